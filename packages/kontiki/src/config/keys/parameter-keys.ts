/** Names of the objects that are no text and live in Parameters (spec: config 10). */
export const PARAMETER_KEYS = {
  'raft.grpc.tls.conf': 'TLS of every gRPC role that has none of its own.',
  'raft.grpc.admin.tls.conf': 'TLS of the admin listener and of connections to it.',
  'raft.grpc.client.tls.conf': 'TLS of the client listener and of connections to it.',
  'raft.grpc.server.tls.conf': 'TLS between servers.',
  'raft.grpc.server.services.customizer': 'May adjust each gRPC server before it listens.',
  'raft.netty.dataStream.client.tls.conf':
    'TLS of data stream clients, and of servers that forward.',
  'raft.netty.dataStream.server.tls.conf': 'TLS of the data stream server.',
  'raft.server.data-stream.server.api.resolver': 'Chooses who serves a read stream.',
  'raft.simulated.serverRequestReply': 'Simulated connection between servers.',
  'raft.simulated.client2serverRequestReply': 'Simulated connection from clients.',
} as const;
export type ParameterKey = keyof typeof PARAMETER_KEYS;
