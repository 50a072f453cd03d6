const config = {
  // the repository checks them
  typescript: { ignoreBuildErrors: true },
  // the test links to dependencies outside the project
  turbopack: { root: '/' },
};

// oxlint-disable-next-line import/no-default-export -- Next.js wants it so
export default config;
