const config = {
  // types are checked by the repository
  typescript: { ignoreBuildErrors: true },
  // the test links dependencies from outside the project
  turbopack: { root: '/' },
};

// oxlint-disable-next-line import/no-default-export -- required by Next.js
export default config;
