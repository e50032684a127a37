/**
 * A Kontiki server in a process of its own. It understands those commands of the Java peer
 * (`Peer.java`) that concern servers, and ends with its standard input.
 */
import { createInterface } from 'node:readline';
import { createGroup, createPeer, RaftGroupId } from 'kontiki';
import { tlsFromFiles } from './certificates.js';
import { KontikiMember } from './members.js';

type Arguments = Readonly<Record<string, string>>;

function print(answer: unknown): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

function memberOf(args: Arguments): KontikiMember {
  const peers = (args['peers'] ?? '').split(',').map((text) => {
    const [id = '', address = '', clientAddress = '', adminAddress = ''] = text.split('|');
    return createPeer({ id, address, clientAddress, adminAddress });
  });
  const peer = peers.find(({ id }) => id === args['id']);
  if (peer === undefined) throw new Error(`${args['id']} is not among the peers`);
  const { tlsCa, tlsCert, tlsKey } = args;
  const files =
    tlsCa !== undefined && tlsCert !== undefined && tlsKey !== undefined
      ? { tlsCa, tlsCert, tlsKey }
      : undefined;
  return new KontikiMember({
    peer,
    group: createGroup(RaftGroupId.parse(args['group'] ?? ''), peers),
    storage: args['storage'] ?? '',
    tls: files === undefined ? undefined : tlsFromFiles(files),
    properties: Object.fromEntries(Object.entries(args).filter(([key]) => key.startsWith('raft.'))),
  });
}

let member: KontikiMember | undefined;

async function run(name: string, args: Arguments): Promise<unknown> {
  if (name === 'startServer') {
    member = memberOf(args);
    await member.start();
    return null;
  }
  if (name === 'serverInfo' && member !== undefined) return member.info();
  throw new Error(`no command ${name}`);
}

const input = createInterface({ input: process.stdin });
input.on('line', (line) => {
  const [number, name = '', ...fields] = line.split('\t');
  const args = Object.fromEntries(
    fields.map((field) => {
      const at = field.indexOf('=');
      return [field.slice(0, at), decodeURIComponent(field.slice(at + 1))];
    }),
  );
  run(name, args).then(
    (result) => print({ number: Number(number), result }),
    (error: Error) =>
      print({ number: Number(number), error: { type: error.name, message: error.message } }),
  );
});
input.on('close', () => void member?.stop());
print({ ready: true });
