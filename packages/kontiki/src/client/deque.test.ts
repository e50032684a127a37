import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Deque } from './deque.js';

describe('Deque', () => {
  it('does what an array does', () => {
    const operation = fc.oneof(
      fc.record({ kind: fc.constant('push' as const), value: fc.nat() }),
      fc.record({ kind: fc.constant('shift' as const) }),
      fc.record({ kind: fc.constant('takeFrom' as const), at: fc.nat(60) }),
      fc.record({ kind: fc.constant('remove' as const), at: fc.nat(60) }),
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
        const deque = new Deque<number>();
        const model: number[] = [];
        for (const op of operations) {
          if (op.kind === 'push') {
            deque.push(op.value);
            model.push(op.value);
          } else if (op.kind === 'shift') {
            assert.equal(deque.shift(), model.shift());
          } else if (op.kind === 'takeFrom') {
            assert.deepEqual(deque.takeFrom(op.at), model.splice(op.at));
          } else {
            assert.equal(deque.remove(op.at), model.splice(op.at, 1)[0]);
          }
          assert.equal(deque.length, model.length);
          assert.deepEqual(
            model.map((_, i) => deque.at(i)),
            model,
          );
          assert.equal(deque.at(model.length), undefined);
        }
      }),
    );
  });
});
