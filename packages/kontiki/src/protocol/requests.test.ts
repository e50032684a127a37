import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDummy, isReadOnly, ReplicationLevel, type RequestType } from './requests.js';

const TYPES: readonly [type: RequestType, readOnly: boolean][] = [
  [{ kind: 'write', replication: ReplicationLevel.MAJORITY }, false],
  [{ kind: 'forward' }, false],
  [{ kind: 'dataStream' }, false],
  [{ kind: 'messageStream', streamId: 1, messageId: 1, endOfRequest: true }, false],
  [{ kind: 'staleRead', minIndex: 0 }, true],
  [{ kind: 'watch', index: 0, replication: ReplicationLevel.ALL }, true],
  [
    {
      kind: 'read',
      preferNonLinearizable: false,
      readAfterWriteConsistent: false,
      dummy: false,
    },
    true,
  ],
];

for (const [type, readOnly] of TYPES) {
  test(`a ${type.kind} ${readOnly ? 'changes nothing' : 'changes state'}`, () => {
    assert.equal(isReadOnly(type), readOnly);
  });
}

test('knows the dummy content by its bytes (spec: wire-grpc 5.2)', () => {
  const utf8 = new TextEncoder();
  assert.ok(isDummy(utf8.encode('DUMMY')));
  for (const text of ['', 'DUMM', 'dummy', 'DUMMY1']) assert.ok(!isDummy(utf8.encode(text)));
});
