package kontiki.interop;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.StateMachine;
import org.apache.ratis.util.MD5FileUtil;
import org.apache.ratis.util.NetUtils;

/** A server of one group with a {@link LabStateMachine}. */
final class LabServer {
  private final RaftServer server;
  private final RaftGroup group;
  private final LabStateMachine machine = new LabStateMachine();

  private LabServer(Command command) throws IOException {
    final RaftPeerId id = RaftPeerId.valueOf(command.get("id"));
    group = Settings.group(command);
    final RaftProperties properties = Settings.properties(command);
    final RaftPeer self = group.getPeer(id);
    if (self != null && properties.get(GrpcConfigKeys.Server.PORT_KEY) == null) {
      GrpcConfigKeys.Server.setPort(properties, port(self.getAddress()));
      setOtherPorts(properties, self);
    }
    RaftServerConfigKeys.setStorageDir(properties, Collections.singletonList(new File(command.get("storage"))));
    server = RaftServer.newBuilder()
        .setServerId(id)
        .setGroup(group)
        .setOption(RaftStorage.StartupOption.valueOf(command.get("startup", "RECOVER")))
        .setProperties(properties)
        .setParameters(Settings.parameters(command, properties))
        .setStateMachineRegistry(groupId -> groupId.equals(group.getGroupId()) ? machine : newMachine())
        .build();
  }

  private static StateMachine newMachine() {
    return new LabStateMachine();
  }

  private static void setOtherPorts(RaftProperties properties, RaftPeer self) {
    if (self.getClientAddress() != null) {
      GrpcConfigKeys.Client.setPort(properties, port(self.getClientAddress()));
    }
    if (self.getAdminAddress() != null) {
      GrpcConfigKeys.Admin.setPort(properties, port(self.getAdminAddress()));
    }
  }

  private static int port(String address) {
    return NetUtils.createSocketAddr(address).getPort();
  }

  static LabServer start(Command command) throws IOException {
    final LabServer lab = new LabServer(command);
    try {
      lab.server.start();
    } catch (IOException | RuntimeException e) {
      lab.server.close();
      throw e;
    }
    return lab;
  }

  void stop() throws IOException {
    server.close();
  }

  /** What the server knows of itself. */
  Map<String, Object> info() throws IOException {
    final RaftServer.Division division = server.getDivision(group.getGroupId());
    final RaftLog log = division.getRaftLog();
    final var info = division.getInfo();
    final var last = log.getLastEntryTermIndex();
    return Json.object(
        "role", info.getCurrentRole(),
        "ready", info.isLeaderReady(),
        "leader", info.getLeaderId(),
        "term", info.getCurrentTerm(),
        "lifeCycle", info.getLifeCycleState(),
        "commit", log.getLastCommittedIndex(),
        "applied", info.getLastAppliedIndex(),
        "lastIndex", last == null ? -1 : last.getIndex(),
        "value", machine.value(),
        "records", machine.records());
  }

  /** The entries of the log: term, index, kind, and MD5 of what is in the file. */
  List<Object> log() throws IOException {
    final RaftLog log = server.getDivision(group.getGroupId()).getRaftLog();
    final List<Object> entries = new ArrayList<>();
    for (long index = log.getStartIndex(); index < log.getNextIndex(); index++) {
      final LogEntryProto entry = log.get(index);
      entries.add(Json.object(
          "term", entry.getTerm(),
          "index", entry.getIndex(),
          "kind", entry.getLogEntryBodyCase(),
          "md5", md5(entry.toByteArray())));
    }
    return entries;
  }

  private static String md5(byte[] content) {
    return HexFormat.of().formatHex(MD5FileUtil.newMD5().digest(content));
  }
}
