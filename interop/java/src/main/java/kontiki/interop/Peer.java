package kontiki.interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Hosts servers and clients, as the lines of standard input say; answers each with a line of JSON, and ends with its input. */
public final class Peer {
  private final Map<String, LabServer> servers = new ConcurrentHashMap<>();
  private final Map<String, LabClient> clients = new ConcurrentHashMap<>();
  private final PrintStream out;

  private Peer(PrintStream out) {
    this.out = out;
  }

  public static void main(String[] arguments) throws IOException {
    final Peer peer = new Peer(System.out);
    // Nothing but answers goes to standard output.
    System.setOut(System.err);
    final ExecutorService executor = Executors.newCachedThreadPool();
    peer.print(Json.object("ready", true, "pid", ProcessHandle.current().pid()));
    final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      final Command command = Command.parse(line);
      executor.execute(() -> peer.answer(command));
    }
    peer.close();
    Runtime.getRuntime().halt(0);
  }

  private void answer(Command command) {
    Map<String, Object> answer;
    try {
      answer = Json.object("number", command.number(), "result", run(command));
    } catch (Exception | LinkageError | AssertionError e) {
      answer = Json.object("number", command.number(), "error", Errors.describe(e));
    }
    print(answer);
  }

  private void print(Map<String, Object> answer) {
    final String line = Json.write(answer);
    synchronized (out) {
      out.println(line);
      out.flush();
    }
  }

  private Object run(Command command) throws Exception {
    switch (command.name()) {
      case "startServer":
        servers.put(command.get("id"), LabServer.start(command));
        return null;
      case "stopServer":
        servers.remove(command.get("id")).stop();
        return null;
      case "serverInfo":
        return servers.get(command.get("id")).info();
      case "serverLog":
        return servers.get(command.get("id")).log();
      case "openClient":
        clients.put(command.get("name"), new LabClient(command));
        return null;
      case "closeClient":
        clients.remove(command.get("name")).close();
        return null;
      case "call":
        return clients.get(command.get("name")).call(command);
      default:
        throw new IllegalArgumentException("no command " + command.name());
    }
  }

  private void close() throws IOException {
    for (LabClient client : clients.values()) {
      client.close();
    }
    for (LabServer server : servers.values()) {
      server.stop();
    }
  }
}
