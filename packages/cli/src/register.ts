import { setSourceMapsEnabled } from 'node:process';

setSourceMapsEnabled(true);
