package kontiki.interop;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.exceptions.StateMachineException;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.MD5FileUtil;

/**
 * Counts and records. Writes: INCREMENT answers the new value; {@code ADD:text} is recorded and answered with the number of records;
 * {@code DATA:text} too, the text as state machine data; FAIL fails when it is applied, REJECT and THROW before it is logged.
 * Queries: GET the value, LIST the records (one a line), FAIL fails, NULL has no answer.
 */
final class LabStateMachine extends BaseStateMachine {
  private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();
  private long value;
  private final List<String> records = new ArrayList<>();
  private File dataDirectory;

  @Override
  public void initialize(RaftServer server, RaftGroupId groupId, RaftStorage raftStorage) throws IOException {
    super.initialize(server, groupId, raftStorage);
    getLifeCycle().startAndTransition(() -> {
      storage.init(raftStorage);
      dataDirectory = new File(raftStorage.getStorageDir().getStateMachineDir(), "data");
      Files.createDirectories(dataDirectory.toPath());
      load(storage.loadLatestSnapshot());
    }, IOException.class);
  }

  @Override
  public void pause() {
    getLifeCycle().transition(org.apache.ratis.util.LifeCycle.State.PAUSING);
    getLifeCycle().transition(org.apache.ratis.util.LifeCycle.State.PAUSED);
  }

  @Override
  public void reinitialize() throws IOException {
    load(storage.loadLatestSnapshot());
    getLifeCycle().transition(org.apache.ratis.util.LifeCycle.State.STARTING);
    getLifeCycle().transition(org.apache.ratis.util.LifeCycle.State.RUNNING);
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return storage;
  }

  private synchronized void load(SingleFileSnapshotInfo snapshot) throws IOException {
    if (snapshot == null) {
      return;
    }
    final List<String> lines = Files.readAllLines(snapshot.getFile().getPath(), StandardCharsets.UTF_8);
    value = Long.parseLong(lines.get(0));
    records.clear();
    records.addAll(lines.subList(1, lines.size()));
    setLastAppliedTermIndex(snapshot.getTermIndex());
  }

  @Override
  public long takeSnapshot() throws IOException {
    final StringBuilder content = new StringBuilder();
    final TermIndex last;
    synchronized (this) {
      last = getLastAppliedTermIndex();
      content.append(value).append('\n');
      records.forEach(record -> content.append(record).append('\n'));
    }
    if (last.getIndex() < 0) {
      return -1;
    }
    final File file = storage.getSnapshotFile(last.getTerm(), last.getIndex());
    Files.writeString(file.toPath(), content, StandardCharsets.UTF_8);
    final MD5Hash digest = MD5FileUtil.computeAndSaveMd5ForFile(file);
    storage.updateLatestSnapshot(new SingleFileSnapshotInfo(new FileInfo(file.toPath(), digest), last));
    return last.getIndex();
  }

  @Override
  public TransactionContext startTransaction(RaftClientRequest request) throws IOException {
    final String text = request.getMessage().getContent().toStringUtf8();
    if (text.equals("THROW")) {
      throw new IOException("thrown before the log");
    }
    final TransactionContext.Builder builder = TransactionContext.newBuilder().setStateMachine(this).setClientRequest(request);
    if (text.startsWith("DATA:")) {
      final String data = text.substring("DATA:".length());
      builder.setLogData(ByteString.copyFromUtf8("DATA:" + data.length())).setStateMachineData(ByteString.copyFromUtf8(data));
    }
    final TransactionContext context = builder.build();
    if (text.equals("REJECT")) {
      context.setException(new IllegalArgumentException("rejected before the log"));
    }
    return context;
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext context) {
    final LogEntryProto entry = context.getLogEntry();
    final String text = entry.getStateMachineLogEntry().getLogData().toStringUtf8();
    try {
      return CompletableFuture.completedFuture(Message.valueOf(apply(text, entry.getIndex())));
    } catch (IOException | IllegalStateException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
    }
  }

  private synchronized String apply(String text, long index) throws IOException {
    if (text.equals("INCREMENT")) {
      return Long.toString(++value);
    } else if (text.equals("FAIL")) {
      throw new IllegalStateException("failed when applied");
    } else if (text.startsWith("DATA:")) {
      records.add("DATA:" + Files.readString(dataFile(index)));
    } else {
      records.add(text);
    }
    return Integer.toString(records.size());
  }

  @Override
  public CompletableFuture<Message> query(Message request) {
    final String text = request.getContent().toStringUtf8();
    synchronized (this) {
      return switch (text) {
        case "GET" -> CompletableFuture.completedFuture(Message.valueOf(Long.toString(value)));
        case "LIST" -> CompletableFuture.completedFuture(Message.valueOf(String.join("\n", records)));
        case "NULL" -> CompletableFuture.completedFuture(null);
        default -> CompletableFuture.failedFuture(
            new StateMachineException(getId().toString(), new IllegalArgumentException("unknown query " + text)));
      };
    }
  }

  @Override
  public CompletableFuture<Message> queryStale(Message request, long minIndex) {
    return query(request);
  }

  @Override
  public CompletableFuture<?> write(LogEntryProto entry) {
    final var body = entry.getStateMachineLogEntry();
    if (!body.hasStateMachineEntry() || body.getStateMachineEntry().getStateMachineData().isEmpty()) {
      return CompletableFuture.completedFuture(null);
    }
    try (FileChannel file = FileChannel.open(
        dataFile(entry.getIndex()), StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
      final ByteBuffer data = body.getStateMachineEntry().getStateMachineData().asReadOnlyByteBuffer();
      while (data.hasRemaining()) {
        file.write(data);
      }
      return CompletableFuture.completedFuture(null);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public CompletableFuture<ByteString> read(LogEntryProto entry) {
    try {
      return CompletableFuture.completedFuture(ByteString.copyFrom(Files.readAllBytes(dataFile(entry.getIndex()))));
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public CompletableFuture<Void> flush(long index) {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletableFuture<Void> truncate(long index) {
    return CompletableFuture.completedFuture(null);
  }

  private Path dataFile(long index) {
    return new File(dataDirectory, Long.toString(index)).toPath();
  }

  synchronized long value() {
    return value;
  }

  synchronized List<String> records() {
    return new ArrayList<>(records);
  }
}
