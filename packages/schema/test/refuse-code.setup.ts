import { refuseCode } from './refuse-code.js';

refuseCode();
