import { describeTransport } from '../conformance/transport-suite.test-support.js';
import { DEFAULT_RUNTIME } from '../grpc/default-runtime.js';
import { MemoryTransport } from './transport.js';

describeTransport({
  name: 'memory',
  transport: new MemoryTransport({ runtime: DEFAULT_RUNTIME }),
  host: 'localhost',
});
