package kontiki.interop;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.grpc.GrpcTlsConfig;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.rpc.SupportedRpcType;

/** What the arguments of a command say of groups, configuration and TLS. */
final class Settings {
  private Settings() {}

  /** The group of {@code group} (a UUID) and {@code peers}. */
  static RaftGroup group(Command command) {
    final RaftGroupId id = RaftGroupId.valueOf(UUID.fromString(command.get("group")));
    return RaftGroup.valueOf(id, peers(command.get("peers")));
  }

  /** {@code id|address|clientAddress|adminAddress|priority|LISTENER}, separated by commas; all but the id may be empty. */
  static List<RaftPeer> peers(String text) {
    final List<RaftPeer> peers = new ArrayList<>();
    if (text.isEmpty()) {
      return peers;
    }
    for (String one : text.split(",")) {
      final String[] parts = one.split("\\|", -1);
      final RaftPeer.Builder builder = RaftPeer.newBuilder().setId(parts[0]);
      if (has(parts, 1)) {
        builder.setAddress(parts[1]);
      }
      if (has(parts, 2)) {
        builder.setClientAddress(parts[2]);
      }
      if (has(parts, 3)) {
        builder.setAdminAddress(parts[3]);
      }
      if (has(parts, 4)) {
        builder.setPriority(Integer.parseInt(parts[4]));
      }
      if (has(parts, 5)) {
        builder.setStartupRole(RaftPeerRole.valueOf(parts[5]));
      }
      peers.add(builder.build());
    }
    return peers;
  }

  private static boolean has(String[] parts, int index) {
    return parts.length > index && !parts[index].isEmpty();
  }

  /** Every argument whose name starts with {@code raft.} is a key. */
  static RaftProperties properties(Command command) {
    final RaftProperties properties = new RaftProperties();
    RaftConfigKeys.Rpc.setType(properties, SupportedRpcType.GRPC);
    command.arguments().forEach((key, value) -> {
      if (key.startsWith("raft.")) {
        properties.set(key, value);
      }
    });
    return properties;
  }

  /** Mutual TLS when {@code tlsCa}, {@code tlsCert} and {@code tlsKey} name PEM files. */
  static Parameters parameters(Command command, RaftProperties properties) {
    final Parameters parameters = new Parameters();
    if (command.has("tlsCa")) {
      final GrpcTlsConfig tls = new GrpcTlsConfig(
          new File(command.get("tlsKey")), new File(command.get("tlsCert")), new File(command.get("tlsCa")), true);
      GrpcConfigKeys.TLS.setEnabled(properties, true);
      GrpcConfigKeys.TLS.setMutualAuthnEnabled(properties, true);
      GrpcConfigKeys.TLS.setConf(parameters, tls);
    }
    return parameters;
  }
}
