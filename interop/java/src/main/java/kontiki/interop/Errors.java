package kontiki.interop;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.ratis.protocol.exceptions.NotLeaderException;
import org.apache.ratis.protocol.exceptions.NotReplicatedException;
import org.apache.ratis.protocol.exceptions.StateMachineException;

/** Exceptions as JSON objects. */
final class Errors {
  private Errors() {}

  static Map<String, Object> describe(Throwable error) {
    final Map<String, Object> fields = Json.object("type", error.getClass().getName(), "message", error.getMessage());
    if (error instanceof NotLeaderException notLeader) {
      final List<Object> peers = new ArrayList<>();
      notLeader.getPeers().forEach(peer -> peers.add(peer.getId()));
      fields.put("leader", notLeader.getSuggestedLeader() == null ? null : notLeader.getSuggestedLeader().getId());
      fields.put("peers", peers);
    } else if (error instanceof NotReplicatedException notReplicated) {
      fields.put("callId", notReplicated.getCallId());
      fields.put("level", notReplicated.getRequiredReplication());
      fields.put("index", notReplicated.getLogIndex());
    } else if (error instanceof StateMachineException machine) {
      fields.put("leaderShouldStepDown", machine.leaderShouldStepDown());
    }
    if (error.getCause() != null && error.getCause() != error) {
      fields.put("cause", describe(error.getCause()));
    }
    return fields;
  }
}
