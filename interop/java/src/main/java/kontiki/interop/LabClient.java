package kontiki.interop;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.ReplicationLevel;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/** A client whose calls are commands. */
final class LabClient implements Closeable {
  private static final long CALL_SECONDS = 60;
  private final RaftClient client;

  LabClient(Command command) {
    final RaftProperties properties = Settings.properties(command);
    final RaftClient.Builder builder = RaftClient.newBuilder()
        .setRaftGroup(Settings.group(command))
        .setProperties(properties)
        .setParameters(Settings.parameters(command, properties))
        .setRetryPolicy(RetryPolicies.retryUpToMaximumCountWithFixedSleep(
            Integer.parseInt(command.get("attempts", "200")), TimeDuration.valueOf(100, TimeUnit.MILLISECONDS)));
    if (command.has("leader")) {
      builder.setLeaderId(RaftPeerId.valueOf(command.get("leader")));
    }
    client = builder.build();
  }

  /** Carries out the operation of argument {@code op}. */
  Object call(Command command) throws Exception {
    return switch (command.get("op")) {
      case "send" -> reply(await(client.async().send(message(command), level(command))));
      case "sendMany" -> sendMany(command);
      case "read" -> reply(await(client.async().sendReadOnly(message(command), server(command))));
      case "readAfterWrite" -> reply(await(client.async().sendReadAfterWrite(message(command))));
      case "readNonLinearizable" -> reply(await(client.async().sendReadOnlyNonLinearizable(message(command))));
      case "readUnordered" -> reply(await(client.async().sendReadOnlyUnordered(message(command), server(command))));
      case "staleRead" ->
          reply(await(client.async().sendStaleRead(message(command), command.number("index"), server(command))));
      case "watch" -> reply(await(client.async().watch(command.number("index"), level(command))));
      case "ioSend" -> reply(client.io().send(message(command)));
      case "ioRead" -> reply(client.io().sendReadOnly(message(command), server(command)));
      case "ioReadNonLinearizable" -> reply(client.io().sendReadOnlyNonLinearizable(message(command)));
      case "ioReadAfterWrite" -> reply(client.io().sendReadAfterWrite(message(command)));
      case "ioStaleRead" -> reply(client.io().sendStaleRead(message(command), command.number("index"), server(command)));
      case "ioWatch" -> reply(client.io().watch(command.number("index"), level(command)));
      case "stream" -> reply(await(client.getMessageStreamApi().streamAsync(
          message(command), SizeInBytes.valueOf(command.number("pieceBytes")))));
      case "raw" -> reply(client.getClientRpc().sendRequest(raw(command)));
      default -> admin(command);
    };
  }

  private Object admin(Command command) throws IOException {
    return switch (command.get("op")) {
      case "groupList" -> {
        final var reply = client.getGroupManagementApi(server(command)).list();
        final List<Object> ids = new ArrayList<>();
        reply.getGroupIds().forEach(id -> ids.add(id.getUuid()));
        yield Json.object("success", reply.isSuccess(), "groups", ids);
      }
      case "groupInfo" -> groupInfo(command);
      case "groupAdd" -> reply(client.getGroupManagementApi(server(command)).add(Settings.group(command), true));
      case "groupRemove" -> reply(client.getGroupManagementApi(server(command)).remove(
          RaftGroupId.valueOf(UUID.fromString(command.get("group"))), true, false));
      case "snapshot" -> reply(client.getSnapshotManagementApi(server(command)).create(true, 10_000));
      case "pauseElection" -> reply(client.getLeaderElectionManagementApi(server(command)).pause());
      case "resumeElection" -> reply(client.getLeaderElectionManagementApi(server(command)).resume());
      case "transfer" -> reply(client.admin().transferLeadership(server(command), command.number("timeoutMs")));
      case "setConfiguration" -> reply(client.admin().setConfiguration(Settings.peers(command.get("peers"))));
      case "leader" -> client.getLeaderId();
      default -> throw new IllegalArgumentException("no operation " + command.get("op"));
    };
  }

  private Map<String, Object> groupInfo(Command command) throws IOException {
    final var reply = client.getGroupManagementApi(server(command)).info(
        command.has("group") ? RaftGroupId.valueOf(UUID.fromString(command.get("group"))) : client.getGroupId());
    final var role = reply.getRoleInfoProto();
    final List<Object> peers = new ArrayList<>();
    reply.getGroup().getPeers().forEach(peer -> peers.add(peer.getId() + "|" + peer.getAddress()));
    final List<Object> commits = new ArrayList<>();
    reply.getCommitInfos().forEach(commit ->
        commits.add(Json.object("id", commit.getServer().getId().toStringUtf8(), "commit", commit.getCommitIndex())));
    final List<Object> followers = new ArrayList<>();
    role.getLeaderInfo().getFollowerInfoList().forEach(one -> followers.add(Json.object(
        "id", one.getId().getId().toStringUtf8(), "lastRpcElapsedMs", one.getLastRpcElapsedTimeMs())));
    return Json.object(
        "success", reply.isSuccess(),
        "group", reply.getGroup().getGroupId().getUuid(),
        "peers", peers,
        "healthy", reply.isRaftStorageHealthy(),
        "self", role.getSelf().getId().toStringUtf8(),
        "role", role.getRole(),
        "roleElapsedMs", role.getRoleElapsedTimeMs(),
        "leader", role.getFollowerInfo().getLeaderInfo().getId().getId().toStringUtf8(),
        "followers", followers,
        "term", role.getLeaderInfo().getTerm(),
        "applied", reply.getLogInfoProto().getApplied().getIndex(),
        "committed", reply.getLogInfoProto().getCommitted().getIndex(),
        "lastEntry", reply.getLogInfoProto().getLastEntry().getIndex(),
        "commits", commits);
  }

  /** Ordered writes {@code prefix0, prefix1 ...}, all on their way at once; their answers in order. */
  private Object sendMany(Command command) throws Exception {
    final List<CompletableFuture<RaftClientReply>> futures = new ArrayList<>();
    for (long i = 0; i < command.number("count"); i++) {
      futures.add(client.async().send(Message.valueOf(command.get("prefix") + i)));
    }
    final List<Object> answers = new ArrayList<>();
    for (CompletableFuture<RaftClientReply> future : futures) {
      final RaftClientReply reply = await(future);
      answers.add(reply.isSuccess() ? reply.getMessage().getContent().toStringUtf8() : reply.getException().toString());
    }
    return answers;
  }

  private RaftClientRequest raw(Command command) {
    return RaftClientRequest.newBuilder()
        .setClientId(client.getId())
        .setServerId(server(command))
        .setGroupId(command.has("group") ? RaftGroupId.valueOf(UUID.fromString(command.get("group"))) : client.getGroupId())
        .setCallId(command.number("callId"))
        .setMessage(message(command))
        .setType(type(command))
        .build();
  }

  private static RaftClientRequest.Type type(Command command) {
    return switch (command.get("type", "write")) {
      case "write" -> RaftClientRequest.writeRequestType(level(command));
      case "read" -> RaftClientRequest.readRequestType();
      case "readNonLinearizable" -> RaftClientRequest.readRequestType(true);
      case "readAfterWrite" -> RaftClientRequest.readAfterWriteConsistentRequestType();
      case "staleRead" -> RaftClientRequest.staleReadRequestType(command.number("index"));
      case "watch" -> RaftClientRequest.watchRequestType(command.number("index"), level(command));
      default -> throw new IllegalArgumentException("no type " + command.get("type"));
    };
  }

  private static <T> T await(CompletableFuture<T> future) throws Exception {
    try {
      return future.get(CALL_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    } catch (TimeoutException e) {
      throw new TimeoutException("no answer within " + CALL_SECONDS + " s");
    }
  }

  private static Message message(Command command) {
    return Message.valueOf(command.get("text"));
  }

  private static RaftPeerId server(Command command) {
    return command.has("server") ? RaftPeerId.valueOf(command.get("server")) : null;
  }

  private static ReplicationLevel level(Command command) {
    return ReplicationLevel.valueOf(command.get("level", "MAJORITY"));
  }

  private static Map<String, Object> reply(RaftClientReply reply) {
    final List<Object> commits = new ArrayList<>();
    reply.getCommitInfos().forEach(commit ->
        commits.add(Json.object("id", commit.getServer().getId().toStringUtf8(), "commit", commit.getCommitIndex())));
    final Message message = reply.getMessage();
    return Json.object(
        "success", reply.isSuccess(),
        "text", message == null ? null : message.getContent().toStringUtf8(),
        "index", reply.getLogIndex(),
        "callId", reply.getCallId(),
        "server", reply.getServerId(),
        "commits", commits,
        "exception", reply.getException() == null ? null : Errors.describe(reply.getException()));
  }

  @Override
  public void close() throws IOException {
    client.close();
  }
}
