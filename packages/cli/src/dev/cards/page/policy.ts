import { config } from 'zod';

// the page's policy allows no `new Function`
config({ jitless: true });
