import { defineKeys } from '../key-definition.js';
import { int } from '../number-keys.js';
import { bool, list, optionalText, path } from '../text-keys.js';

const PER_PEER = 'as many as there are addresses';
const THREADS = { min: 1 };

const EXAMPLE_KEYS_ALONE = defineKeys('examples', {
  'raft.server.address.list': list('host:port, separated by commas', 'Example peers n0, n1, ...'),
  'raft.server.priority.list': list(PER_PEER, 'Priorities of the example peers; 0 when not set.'),
  'raft.server.simulated-slowness.list': list(
    PER_PEER,
    'Pause of each example peer before it counts; seconds without a unit.',
  ),
  'raft.server.root.storage.path': path(
    './ratis-examples/target',
    'Storage root of the debug server.',
  ),
  'example.filestore.statemachine.dir': list(
    'paths, separated by commas',
    'Roots of the file store; each server has a directory, named by its id, in them.',
  ),
  'example.filestore.statemachine.write.thread.num': int('1', 'Writes at once.', THREADS),
  'example.filestore.statemachine.read.thread.num': int('1', 'Reads at once.', THREADS),
  'example.filestore.statemachine.commit.thread.num': int('1', 'Commits at once.', THREADS),
  'example.filestore.statemachine.delete.thread.num': int('1', 'Deletions at once.', THREADS),
});

const TEST_KEYS = defineKeys('test harness', {
  'MiniRaftCluster.statemachine.class': optionalText(
    'Name of the state machine that a test cluster makes.',
  ),
  'raft.test.simple.state.machine.take.snapshot': bool(
    'false',
    'The simple test state machine takes snapshots by itself.',
  ),
  'org.apache.ratis.server.simulation.SimulatedRequestReply.simulateLatencyMs': int(
    '150',
    'Base latency of the simulated transport; 0 is none.',
    { min: 0 },
  ),
});

/** Keys of the examples and of the test harness. */
export const EXAMPLE_KEYS = { ...EXAMPLE_KEYS_ALONE, ...TEST_KEYS };
