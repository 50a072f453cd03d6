import { fileURLToPath } from 'node:url';

const config = {
  // types are checked by the repository
  typescript: { ignoreBuildErrors: true },
  // the packages of the workspace are outside of this folder
  turbopack: { root: fileURLToPath(new URL('../..', import.meta.url)) },
};

// oxlint-disable-next-line import/no-default-export -- required by Next.js
export default config;
