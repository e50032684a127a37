export { createEngine } from './engine.js';
export type * from './types.js';
