import { main } from './main.js';

/** What a process runs that is to be a `kontiki` command. */
await main(process.argv.slice(2));
