/**
 * The order of the pages. A page is named by its path in `docs/`, without `.md`; its heading is its title. Add each new
 * page here: a test finds pages that are missing.
 */
export const SECTIONS: readonly Section[] = [
  { title: 'Start', folder: 'start', pages: ['why', 'getting-started', 'connect', 'test', 'deploy', 'from-a-clone'] },
  {
    title: 'Guides',
    folder: 'guides',
    pages: [
      'index',
      'handlers',
      'schemas',
      'providers',
      'dependency-injection',
      'questions',
      'memory',
      'policies',
      'database',
      'rest-wrapper',
      'uploads-and-files',
      'long-work',
      'patch',
      'multi-tenant',
      'large-servers',
      'testing',
      'evals',
      'contract',
      'changing',
      'tasks',
      'idempotency',
      'previews',
      'composition',
      'openapi',
      'search',
      'apps',
      'skills',
      'plugins',
      'client',
      'from-the-sdk',
      'from-fastmcp',
      'from-mcp-nest',
    ],
  },
  { title: 'Frameworks', folder: 'frameworks', pages: ['express', 'fetch', 'nestjs'] },
  {
    title: 'Security',
    folder: 'security',
    pages: ['threats', 'access', 'authorization', 'authorization-server', 'audit'],
  },
  {
    title: 'Operate',
    folder: 'operate',
    pages: [
      'running',
      'production',
      'docker',
      'kubernetes',
      'systemd',
      'scaling',
      'limits',
      'telemetry',
      'recorder',
      'server-card',
      'performance',
      'lambda',
      'vercel',
      'cloudflare',
      'deno',
      'bun',
      'troubleshooting',
    ],
  },
  {
    title: 'Reference',
    folder: 'reference',
    pages: [
      'index',
      'cli',
      'publish',
      'mcp-server',
      'decorators',
      'context',
      'content-and-errors',
      'transports',
      'http',
      'stdio',
      'errors',
      'lint',
      'cannot-check',
    ],
  },
  {
    title: 'Protocol',
    folder: 'protocol',
    pages: ['revisions', '2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
  },
];

/** A part of the sidebar. Its pages are in one folder. */
export interface Section {
  readonly title: string;
  readonly folder: string;
  /** In reading order, without the folder and without `.md`. */
  readonly pages: readonly string[];
}

/** The pages of a section, as paths in `docs/` without `.md`. */
export const pagesOf = ({ folder, pages }: Section): string[] => pages.map((page) => `${folder}/${page}`);
