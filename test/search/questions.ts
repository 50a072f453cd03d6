/** A question to the search over GitHub's REST operations, and the operations that answer it. */
export interface SearchQuestion {
  readonly question: string;
  /** Ids of operations. Each of them is a right answer. */
  readonly tools: readonly string[];
}

/** Questions as users ask them, written without knowledge of how the search ranks. */
export const QUESTIONS: readonly SearchQuestion[] = [
  { question: 'kick off the deploy workflow by hand on main', tools: ['actions/create-workflow-dispatch'] },
  {
    question: 'the build was flaky, run only the jobs that failed again',
    tools: ['actions/re-run-workflow-failed-jobs'],
  },
  { question: 'give me the console output of that CI job', tools: ['actions/download-job-logs-for-workflow-run'] },
  {
    question: 'store an API key so that the pipelines of this repo can use it',
    tools: ['actions/create-or-update-repo-secret'],
  },
  { question: 'who starred this repo', tools: ['activity/list-stargazers-for-repo'] },
  { question: 'clear my notifications inbox', tools: ['activity/mark-notifications-as-read'] },
  { question: 'which accounts have installed our GitHub App', tools: ['apps/list-installations'] },
  {
    question: 'how much is our company spending on GitHub this month',
    tools: ['billing/get-github-billing-usage-report-org', 'billing/get-github-billing-usage-summary-report-org'],
  },
  {
    question: 'which checks ran on this commit and did they pass',
    tools: ['checks/list-for-ref', 'checks/list-suites-for-ref', 'repos/get-combined-status-for-ref'],
  },
  { question: 'upload the findings of my own static analysis tool', tools: ['code-scanning/upload-sarif'] },
  {
    question: 'spin up a cloud dev environment for this PR',
    tools: ['codespaces/create-with-pr-for-authenticated-user'],
  },
  {
    question: 'shut down my codespace so it stops costing money',
    tools: ['codespaces/stop-for-authenticated-user'],
  },
  {
    question: 'which developers in our org have a Copilot license and when did they last use it',
    tools: ['copilot/list-copilot-seats'],
  },
  { question: 'ignore the warning about a vulnerable npm dependency', tools: ['dependabot/update-alert'] },
  {
    question: 'list all third-party components of the project in SPDX format',
    tools: [
      'dependency-graph/export-sbom',
      'dependency-graph/fetch-sbom-report',
      'dependency-graph/generate-sbom-report',
    ],
  },
  { question: 'which emoji shortcodes can I use in comments', tools: ['emojis/get'] },
  { question: 'share a code snippet without making a whole repository', tools: ['gists/create'] },
  { question: 'point a branch at a different commit', tools: ['git/update-ref'] },
  {
    question: 'ready-made ignore file for a Python project',
    tools: ['gitignore/get-template', 'gitignore/get-all-templates'],
  },
  {
    question: 'for the next day let only people who contributed before comment here',
    tools: ['interactions/set-restrictions-for-repo'],
  },
  { question: 'report a bug in the tracker', tools: ['issues/create'] },
  { question: 'undo a lock on a discussion thread of an issue', tools: ['issues/unlock'] },
  { question: 'close ticket 123 as not planned', tools: ['issues/update'] },
  {
    question: 'who can I give this ticket to',
    tools: ['issues/list-assignees'],
  },
  { question: 'break a big task into smaller child tickets', tools: ['issues/add-sub-issue'] },
  { question: 'what license is this project under', tools: ['licenses/get-for-repo'] },
  { question: 'turn markdown text into HTML', tools: ['markdown/render', 'markdown/render-raw'] },
  { question: "IP ranges of GitHub's servers for our firewall", tools: ['meta/get'] },
  { question: 'back up all repos of the org into an archive', tools: ['migrations/start-for-org'] },
  { question: 'make somebody an admin of the org', tools: ['orgs/set-membership-for-user'] },
  {
    question: 'kick a person out of our organization',
    tools: ['orgs/remove-member', 'orgs/remove-membership-for-user'],
  },
  {
    question: 'bring back a container image version that I removed by accident',
    tools: [
      'packages/restore-package-version-for-authenticated-user',
      'packages/restore-package-version-for-org',
      'packages/restore-package-version-for-user',
    ],
  },
  {
    question: 'put an issue on our planning board',
    tools: ['projects/add-item-for-org', 'projects/add-item-for-user'],
  },
  { question: 'ask Alice to look at my pull request', tools: ['pulls/request-reviewers'] },
  { question: 'which files does this PR touch', tools: ['pulls/list-files'] },
  { question: 'squash and merge the PR', tools: ['pulls/merge', 'pulls/merge-async'] },
  { question: 'how many API calls do I have left this hour', tools: ['rate-limit/get'] },
  { question: 'give a thumbs up to a comment on an issue', tools: ['reactions/create-for-issue-comment'] },
  { question: 'download the source code of v2.0 as a zip', tools: ['repos/download-zipball-archive'] },
  {
    question: 'require two approvals before anything lands on main',
    tools: [
      'repos/update-branch-protection',
      'repos/update-pull-request-review-protection',
      'repos/create-repo-ruleset',
      'repos/update-repo-ruleset',
    ],
  },
  { question: 'hand the repo over to a different owner', tools: ['repos/transfer'] },
  { question: 'how many people looked at our repo in the last two weeks', tools: ['repos/get-views'] },
  { question: 'bring my fork up to date with the original', tools: ['repos/merge-upstream'] },
  { question: 'publish version 1.4.0 with a changelog', tools: ['repos/create-release'] },
  { question: 'give a contractor write access to one repository', tools: ['repos/add-collaborator'] },
  { question: 'find popular open source projects written in Rust', tools: ['search/repos'] },
  { question: 'has anyone leaked credentials in this repo', tools: ['secret-scanning/list-alerts-for-repo'] },
  {
    question: 'tell the maintainers about a security hole without making it public',
    tools: ['security-advisories/create-private-vulnerability-report'],
  },
  { question: 'who is in the platform team', tools: ['teams/list-members-in-org'] },
  {
    question: 'add the public key of my new laptop so that I can push over ssh',
    tools: ['users/create-public-ssh-key-for-authenticated-user'],
  },
];
