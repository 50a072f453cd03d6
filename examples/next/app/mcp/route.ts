import { fetchHandler } from '@decorum/http/fetch';

import { server } from './server';

/** Seconds that Vercel gives a request, including its stream. */
export const maxDuration = 60;

const { VERCEL, VERCEL_URL, VERCEL_BRANCH_URL, VERCEL_PROJECT_PRODUCTION_URL } = process.env;

const serve = fetchHandler(server, {
  // the requests of one client reach several instances
  sessions: false,
  // requests to this machine are always accepted
  allowedHosts: [VERCEL_URL, VERCEL_BRANCH_URL, VERCEL_PROJECT_PRODUCTION_URL].filter((host) => host !== undefined),
});

const handler = (request: Request) => {
  // Vercel sets this header itself. Elsewhere, anybody can send it
  const address = VERCEL === undefined ? null : request.headers.get('x-real-ip');
  return serve(request, { remoteAddress: address ?? undefined });
};

export { handler as DELETE, handler as GET, handler as OPTIONS, handler as POST };
