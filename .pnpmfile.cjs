// MCP-Nest, which test/docs compares with, needs `@nestjs/microservices`. pnpm would link it into each Nest of the workspace,
// as an optional peer, and some packages would then have another copy of `@nestjs/core` than others.
module.exports = {
  hooks: {
    readPackage(manifest) {
      if (['@nestjs/core', '@nestjs/testing'].includes(manifest.name)) {
        delete manifest.peerDependencies['@nestjs/microservices'];
        delete manifest.peerDependenciesMeta['@nestjs/microservices'];
      }
      return manifest;
    },
  },
};
