import { nodeRuntime } from '../../runtime/node-runtime.js';
import { describeTransport } from '../conformance/transport-suite.test-support.js';
import { MemoryTransport } from './transport.js';

describeTransport({
  name: 'memory',
  transport: new MemoryTransport({ runtime: nodeRuntime() }),
  host: 'localhost',
});
