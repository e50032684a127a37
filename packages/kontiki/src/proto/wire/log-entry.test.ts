import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AssertionFailedError, InvalidArgumentError } from '../../common/errors.js';
import { createConfiguration } from '../../protocol/configuration.js';
import { createPeer, RaftPeerRole } from '../../protocol/peer.js';
import { joinParts } from '../hot-messages.test-support.js';
import { fromHex, readTestData, toHex } from '../vectors.test-support.js';
import {
  type AppendEntriesRequestHeader,
  commitIndexOf,
  configurationOf,
  createConfigurationEntry,
  createMetadataEntry,
  createStateMachineEntry,
  decodeAppendEntriesRequest,
  EntryKind,
  encodeAppendEntriesRequest,
  MalformedMessageError,
  parseStoredEntry,
  parseWireEntry,
  SEPARATE_PART_BYTES,
  sizeOfEntryInRequest,
  stateMachineBodyOf,
  withData,
  withoutData,
} from './index.js';

const FULL = readTestData('storage/entries/statemachine-data-full.bin');
const STRIPPED = readTestData('storage/entries/statemachine-data-stripped.bin');
const CLIENT = Uint8Array.from({ length: 16 }, (_, i) => i);
const HEADER: AppendEntriesRequestHeader = {
  requestorId: 's1',
  replyId: 's2',
  raftGroupId: CLIENT,
  callId: 7,
  leaderTerm: 3,
  previousTerm: 3,
  previousIndex: 9,
  leaderCommit: 9,
  initializing: false,
  commitInfos: [{ server: fromHex('0a0273313802'), commitIndex: 9 }],
  spanContext: undefined,
};
const PEERS = ['n0', 'n1', 'n2'].map((id, i) =>
  createPeer({ id, address: `127.0.0.1:10${i}24`, priority: i === 0 ? 1 : 0 }),
);

function transaction(logDataBytes: number, dataBytes: number) {
  return createStateMachineEntry({
    term: 3,
    index: 10,
    logData: new Uint8Array(logDataBytes).fill(1),
    data: new Uint8Array(dataBytes).fill(2),
    type: 0,
    clientId: CLIENT,
    callId: 4,
  });
}

describe('State machine data', () => {
  it('is split off as Java stores it (spec: storage 8)', () => {
    const entry = parseWireEntry(FULL);
    assert.equal(toHex(entry.stored), toHex(STRIPPED));
    assert.equal(entry.fullSizeBytes, 99);
    assert.equal(entry.data?.length, 64);
    assert.deepEqual(parseStoredEntry(STRIPPED), withoutData(entry));
  });

  it('is a view on the frame', () => {
    assert.equal(parseWireEntry(FULL).data?.buffer, FULL.buffer);
  });

  it('comes back when it is at hand again', () => {
    const { data } = parseWireEntry(FULL);
    assert.ok(data !== undefined);
    const entry = withData(parseStoredEntry(STRIPPED), data);
    const request = joinParts(encodeAppendEntriesRequest(HEADER, [entry]));
    assert.ok(toHex(request).includes(toHex(FULL)));
  });

  it('is refused when its size does not agree', () => {
    const entry = parseStoredEntry(STRIPPED);
    assert.throws(() => withData(entry, new Uint8Array(63)), InvalidArgumentError);
    assert.throws(() => withData(entry, new Uint8Array(0)), InvalidArgumentError);
    assert.throws(() => withData(createMetadataEntry(1, 1, 0), CLIENT), InvalidArgumentError);
  });

  it('is refused inside of the log, and missed on the wire', () => {
    assert.throws(() => parseStoredEntry(FULL), MalformedMessageError);
    assert.throws(() => parseWireEntry(STRIPPED), MalformedMessageError);
  });

  it('cannot be left out of a request', () => {
    const entry = parseStoredEntry(STRIPPED);
    assert.throws(() => encodeAppendEntriesRequest(HEADER, [entry]), AssertionFailedError);
  });

  for (const size of [1, 63, 64, 127, 128, 8191, 8192, 16_300, 70_000]) {
    it(`of ${size} bytes travels and splits the same way`, () => {
      const entry = transaction(3, size);
      const parts = encodeAppendEntriesRequest(HEADER, [transaction(5, 0), entry]);
      assert.equal(parts.length, size >= SEPARATE_PART_BYTES ? 3 : 1);
      if (size >= SEPARATE_PART_BYTES) assert.equal(parts[1], entry.data);
      const decoded = decodeAppendEntriesRequest(joinParts(parts));
      assert.deepEqual(decoded.entries, [transaction(5, 0), entry]);
      assert.deepEqual({ ...decoded, entries: [] }, { ...HEADER, entries: [] });
    });
  }

  it('in the last place without anything behind it leaves no empty part', () => {
    const header = { ...HEADER, leaderCommit: 0, commitInfos: [] };
    const entry = createStateMachineEntry({
      term: 1,
      index: 1,
      logData: CLIENT,
      data: new Uint8Array(9000),
      type: 0,
      clientId: new Uint8Array(0),
      callId: 0,
    });
    const parts = encodeAppendEntriesRequest(header, [entry]);
    assert.equal(parts.length, 2);
    assert.deepEqual(decodeAppendEntriesRequest(joinParts(parts)).entries, [entry]);
  });
});

describe('A log entry', () => {
  it('tells what it adds to a request', () => {
    const empty = joinParts(encodeAppendEntriesRequest(HEADER, [])).length;
    for (const entry of [transaction(0, 0), transaction(200, 0), transaction(9, 20_000)]) {
      const length = joinParts(encodeAppendEntriesRequest(HEADER, [entry])).length;
      assert.equal(sizeOfEntryInRequest(entry), length - empty);
    }
  });

  it('of a transaction tells its parts', () => {
    const body = stateMachineBodyOf(transaction(30, 100));
    assert.equal(body.logData.length, 30);
    assert.equal(body.type, 0);
    assert.deepEqual(body.clientId, CLIENT);
    assert.equal(body.callId, 4);
  });

  it('without data of its own has no field for it (spec: wire-grpc 2.7)', () => {
    const fields = { term: 1, index: 1, type: 0, clientId: CLIENT, callId: 7 } as const;
    const logData = new TextEncoder().encode('hello ratis');
    const entry = createStateMachineEntry({ ...fields, logData, data: undefined });
    assert.equal(
      toHex(entry.stored),
      '080110011a210a0b68656c6c6f2072617469737210000102030405060708090a0b0c0d0e0f7807',
    );
    assert.equal(entry.hasData, false);
  });

  it('of a configuration keeps it', () => {
    const voters = PEERS.slice(0, 2);
    const listener = createPeer({ id: 'l0', startupRole: RaftPeerRole.LISTENER });
    const configuration = createConfiguration(
      { voters, listeners: [listener] },
      { voters: PEERS, listeners: [] },
      12,
    );
    const entry = createConfigurationEntry(5, configuration);
    assert.equal(entry.kind, EntryKind.CONFIGURATION);
    assert.equal(entry.index, 12);
    assert.deepEqual(configurationOf(parseStoredEntry(entry.stored)), configuration);
  });

  it('of the initial configuration has index -1 and no term', () => {
    const cur = { voters: PEERS, listeners: [] };
    const entry = createConfigurationEntry(undefined, createConfiguration(cur, undefined, -1));
    assert.ok(toHex(entry.stored).startsWith('10ffffffffffffffffff0122'));
    assert.equal(configurationOf(parseWireEntry(entry.stored)).index, -1);
  });

  it('of a metadata entry tells the commit index', () => {
    const entry = createMetadataEntry(1, 2, 1);
    assert.equal(toHex(entry.stored), '080110022a020801');
    assert.equal(commitIndexOf(parseStoredEntry(entry.stored)), 1);
  });

  it('asked for what another kind holds is a programming error', () => {
    assert.throws(() => commitIndexOf(transaction(1, 0)), AssertionFailedError);
    assert.throws(() => configurationOf(transaction(1, 0)), AssertionFailedError);
    assert.throws(() => stateMachineBodyOf(createMetadataEntry(1, 2, 1)), AssertionFailedError);
  });
});

describe('The check for the canonical form', () => {
  const canonical = fromHex('080110022a020801');

  it('keeps canonical bytes as a view', () => {
    const entry = parseStoredEntry(canonical);
    assert.equal(entry.stored.buffer, canonical.buffer);
    const configuration = createConfigurationEntry(
      1,
      createConfiguration({ voters: PEERS, listeners: [] }, undefined, 0),
    );
    assert.equal(parseWireEntry(configuration.stored).stored.buffer, configuration.stored.buffer);
  });

  for (const [what, hex] of Object.entries({
    'an explicit default': '0801100210002a02080110022a020801',
    'a padded number': '0881001002' + '2a020801',
    'a padded length': '080110022a82000801',
    'a padded tag': '88000110022a020801',
    'another order': '100208012a020801',
    'the body first': '2a02080108011002',
    'a body in two parts': '080110022a002a020801',
    'another body before': '080110021a030a01612a020801',
    'a default inside of the body': '080110022a0408000801',
    'a number with more than 64 bits': '080110022a0b' + '08818080808080808080' + '02',
  })) {
    it(`finds ${what}, and writes the entry anew`, () => {
      const entry = parseStoredEntry(fromHex(hex));
      assert.equal(toHex(entry.stored), toHex(canonical));
      assert.equal(commitIndexOf(entry), 1);
      assert.equal(entry.fullSizeBytes, canonical.length);
    });
  }

  it('drops the high bits of an enum, as Java does', () => {
    const entry = parseStoredEntry(fromHex('1a0768818080808020'));
    assert.equal(toHex(entry.stored), '1a026801');
  });

  it('sorts unknown fields behind the known ones', () => {
    const entry = parseStoredEntry(fromHex('a00601' + '0801' + 'f20101ff' + '10022a020801'));
    assert.equal(toHex(entry.stored), '080110022a020801' + 'f20101ff' + 'a00601');
  });
});
