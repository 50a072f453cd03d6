import { installLoader } from './loader/install.js';

installLoader();
