export {
  getCounter,
  type IncrementMode,
  increment,
  incrementMany,
} from './counter-client.js';
export { CounterStateMachine } from './counter-state-machine.js';
export {
  COUNTER_GROUP_ID,
  decodeCounterSnapshot,
  decodeCounterValue,
  encodeCounterSnapshot,
  encodeCounterValue,
  GET,
  INCREMENT,
} from './messages.js';
