import { fetchHandler } from '@decorum/http/fetch';

import { server } from './server';

const handler = fetchHandler(server);

export { handler as DELETE, handler as GET, handler as OPTIONS, handler as POST };
