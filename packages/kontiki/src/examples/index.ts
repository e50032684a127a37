/** Example state machines that ship with Kontiki, and their clients. */
export * from './counter/index.js';
export * from './filestore/index.js';
