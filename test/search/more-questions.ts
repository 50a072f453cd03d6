import type { SearchQuestion } from './questions.js';

/**
 * More questions, about other operations. They were written when the ranking was finished, without knowledge of it, and before
 * any of them was asked. Don't add words to the search because of them: they measure what it does with questions it wasn't made for.
 */
export const BLIND_QUESTIONS: readonly SearchQuestion[] = [
  {
    question: "what's the status of the latest pipeline runs on the release branch",
    tools: ['actions/list-workflow-runs-for-repo', 'actions/list-workflow-runs'],
  },
  {
    question: 'stop the build that is running right now',
    tools: ['actions/cancel-workflow-run', 'actions/force-cancel-workflow-run'],
  },
  {
    question: 'get the files that the nightly build produced',
    tools: ['actions/download-artifact', 'actions/list-workflow-run-artifacts', 'actions/list-artifacts-for-repo'],
  },
  {
    question: 'which of our own build machines are offline',
    tools: ['actions/list-self-hosted-runners-for-org', 'actions/list-self-hosted-runners-for-repo'],
  },
  { question: 'turn off the scheduled workflow that spams us every night', tools: ['actions/disable-workflow'] },
  {
    question: 'sign off the production deploy that is waiting for me',
    tools: ['actions/review-pending-deployments-for-run'],
  },
  {
    question: 'what is new for me, unread mentions and so on',
    tools: ['activity/list-notifications-for-authenticated-user'],
  },
  {
    question: "I don't want to hear about this thread any more",
    tools: ['activity/delete-thread-subscription', 'activity/set-thread-subscription'],
  },
  {
    question: 'our app missed a webhook while it was down, send it again',
    tools: ['apps/redeliver-webhook-delivery'],
  },
  {
    question: "get a token so our app can act on a customer's account",
    tools: ['apps/create-installation-access-token'],
  },
  {
    question: 'put a cap on what the org may spend on Actions',
    tools: ['billing/create-organization-budget', 'billing/update-budget-org'],
  },
  { question: 'which lines did the linter complain about in this check run', tools: ['checks/list-annotations'] },
  {
    question: 'list the problems CodeQL found in our code',
    tools: ['code-scanning/list-alerts-for-repo', 'code-scanning/list-alerts-for-org'],
  },
  {
    question: 'what machine sizes can I pick for a codespace in this repo',
    tools: ['codespaces/repo-machines-for-authenticated-user'],
  },
  {
    question: 'take the Copilot license away from someone who changed jobs',
    tools: ['copilot/cancel-copilot-seat-assignment-for-users'],
  },
  {
    question: 'which of our dependencies have known vulnerabilities',
    tools: [
      'dependabot/list-alerts-for-repo',
      'dependabot/list-alerts-for-org',
      'dependabot/list-alerts-for-enterprise',
    ],
  },
  { question: 'what new packages does this branch bring in compared to main', tools: ['dependency-graph/diff-range'] },
  { question: 'show all my snippets', tools: ['gists/list'] },
  { question: 'start a new branch off main', tools: ['git/create-ref'] },
  { question: 'list every file in the repo, subfolders included', tools: ['git/get-tree'] },
  { question: 'reply to the bug report', tools: ['issues/create-comment'] },
  { question: 'label this issue as urgent', tools: ['issues/add-labels', 'issues/set-labels'] },
  {
    question: 'everything that is assigned to me, across all repos',
    tools: ['issues/list', 'issues/list-for-authenticated-user', 'search/issues-and-pull-requests'],
  },
  { question: 'set up a milestone for the March release with a due date', tools: ['issues/create-milestone'] },
  {
    question: "note that we can't work on this ticket until the other one is done",
    tools: ['issues/add-blocked-by-dependency'],
  },
  { question: 'what does the Apache license allow me to do', tools: ['licenses/get'] },
  { question: 'invite jane@example.com to join our organization', tools: ['orgs/create-invitation'] },
  { question: "who has access to our code but isn't an employee", tools: ['orgs/list-outside-collaborators'] },
  { question: 'which personal access tokens can reach data of our org', tools: ['orgs/list-pat-grants'] },
  {
    question: 'get rid of an old version of our docker image',
    tools: [
      'packages/delete-package-version-for-authenticated-user',
      'packages/delete-package-version-for-org',
      'packages/delete-package-version-for-user',
    ],
  },
  {
    question: 'move the card to the Done column of the project board',
    tools: ['projects/update-item-for-org', 'projects/update-item-for-user'],
  },
  { question: 'open a PR from my branch into develop', tools: ['pulls/create'] },
  {
    question: 'what did people say in the code review of PR 88',
    tools: ['pulls/list-review-comments', 'pulls/list-reviews', 'pulls/list-comments-for-review'],
  },
  { question: 'approve the pull request', tools: ['pulls/create-review', 'pulls/submit-review'] },
  { question: 'does PR 12 have merge conflicts', tools: ['pulls/get'] },
  { question: 'my PR is behind main, pull in the latest changes', tools: ['pulls/update-branch'] },
  { question: 'read src/index.ts', tools: ['repos/get-content'] },
  { question: 'save this new version of the config file to the repo', tools: ['repos/create-or-update-file-contents'] },
  {
    question: 'what changed between v1.2 and v1.3',
    tools: ['repos/compare-commits-with-basehead', 'repos/compare-commits'],
  },
  { question: 'history of changes to package.json', tools: ['repos/list-commits'] },
  {
    question: 'host the docs folder of this repo as a website',
    tools: ['repos/create-pages-site', 'repos/update-information-about-pages-site'],
  },
  { question: 'attach the compiled binary to the release', tools: ['repos/upload-release-asset'] },
  { question: 'where in our code is parseConfig called', tools: ['search/code'] },
  { question: 'the leaked password alert is a false positive, close it', tools: ['secret-scanning/update-alert'] },
  {
    question: 'add Bob to the design team',
    tools: ['teams/add-or-update-membership-for-user-in-org'],
  },
  { question: 'who am I logged in as', tools: ['users/get-authenticated'] },
  {
    question: 'look up CVE-2024-3094',
    tools: ['security-advisories/list-global-advisories', 'security-advisories/get-global-advisory'],
  },
  {
    question: 'download the export of our org that I started yesterday',
    tools: ['migrations/download-archive-for-org'],
  },
  {
    question: 'keep strangers from commenting in any of our repos for a week',
    tools: ['interactions/set-restrictions-for-org'],
  },
  { question: 'this token ended up on the internet, kill it', tools: ['credentials/revoke'] },
];

/**
 * Still more questions of this kind, about a seeded draw of the operations, written by somebody else and asked once. Don't add
 * words because of them, either.
 */
export const DRAWN_QUESTIONS: readonly SearchQuestion[] = [
  { question: 'which labels does issue 42 have', tools: ['issues/list-labels-on-issue', 'issues/get'] },
  {
    question: 'how many billable minutes did our nightly build workflow eat up',
    tools: ['actions/get-workflow-usage'],
  },
  { question: 'take the wontfix label off issue 88', tools: ['issues/remove-label'] },
  {
    question: 'how many premium requests has our organization used this month',
    tools: ['billing/get-github-billing-premium-request-usage-report-org'],
  },
  { question: 'add a new label called needs-design to the repo, in purple', tools: ['issues/create-label'] },
  {
    question: 'does the workflow token get write access by default in this repo',
    tools: ['actions/get-github-actions-default-workflow-permissions-repository'],
  },
  { question: 'remove old-config.yml from the main branch', tools: ['repos/delete-file'] },
  {
    question: "put my laptop's new ssh key on my account",
    tools: ['users/create-public-ssh-key-for-authenticated-user'],
  },
  {
    question: 'which people are allowed to push to our protected main branch',
    tools: [
      'repos/get-users-with-access-to-protected-branch',
      'repos/get-access-restrictions',
      'repos/get-branch-protection',
    ],
  },
  { question: 'what email addresses are attached to my account', tools: ['users/list-emails-for-authenticated-user'] },
  {
    question: 'give me every dependency of this repo as an SBOM',
    tools: [
      'dependency-graph/export-sbom',
      'dependency-graph/generate-sbom-report',
      'dependency-graph/fetch-sbom-report',
    ],
  },
  { question: 'get rid of my test-sandbox repository for good', tools: ['repos/delete'] },
  { question: 'leave a comment on this gist saying thanks', tools: ['gists/create-comment'] },
  { question: 'show me the release tagged v2.3.0', tools: ['repos/get-release-by-tag'] },
  { question: 'what problems did code scanning find in this repo', tools: ['code-scanning/list-alerts-for-repo'] },
  { question: 'who still has to review pull request 310', tools: ['pulls/list-requested-reviewers', 'pulls/get'] },
  { question: 'what are the smaller tasks under issue 120', tools: ['issues/list-sub-issues'] },
  { question: 'invite maria@example.com to join our organization', tools: ['orgs/create-invitation'] },
  {
    question: 'our webhook call failed, send it again',
    tools: ['repos/redeliver-webhook-delivery', 'orgs/redeliver-webhook-delivery', 'apps/redeliver-webhook-delivery'],
  },
  { question: 'star the facebook/react repo for me', tools: ['activity/star-repo-for-authenticated-user'] },
  { question: 'start a deployment of the release branch to staging', tools: ['repos/create-deployment'] },
  { question: 'fix the typo in the notes of our last release', tools: ['repos/update-release'] },
  {
    question: 'make jsmith an outside collaborator instead of a member',
    tools: ['orgs/convert-member-to-outside-collaborator'],
  },
  { question: 'which users has our organization blocked', tools: ['orgs/list-blocked-users'] },
  {
    question: 'do any of the dependencies in this repo have known vulnerabilities',
    tools: ['dependabot/list-alerts-for-repo'],
  },
  { question: 'get me the log output of the failing test job', tools: ['actions/download-job-logs-for-workflow-run'] },
  {
    question: 'take away the Copilot licences of these two people',
    tools: ['copilot/cancel-copilot-seat-assignment-for-users'],
  },
  {
    question: 'can issues in this repo be assigned to octocat',
    tools: ['issues/check-user-can-be-assigned', 'issues/check-user-can-be-assigned-to-issue', 'issues/list-assignees'],
  },
  {
    question: 'which orgs am I in',
    tools: ['orgs/list-for-authenticated-user', 'orgs/list-memberships-for-authenticated-user'],
  },
  { question: "delete my codespace, I don't need it any more", tools: ['codespaces/delete-for-authenticated-user'] },
  { question: 'what GitHub Actions workflows are set up in this repo', tools: ['actions/list-repo-workflows'] },
  { question: 'which autolinks, like JIRA-123, are configured here', tools: ['repos/list-autolinks'] },
  {
    question: 'let Dependabot open security fix pull requests on this repo by itself',
    tools: ['repos/enable-automated-security-fixes'],
  },
  { question: 'open a PR from my feature-login branch into develop', tools: ['pulls/create'] },
  { question: 'mark this leaked secret alert as a false positive', tools: ['secret-scanning/update-alert'] },
  {
    question: 'I deleted version 1.4.2 of my package by mistake, bring it back',
    tools: ['packages/restore-package-version-for-authenticated-user', 'packages/restore-package-version-for-user'],
  },
  { question: 'attach the build zip to the v3 release', tools: ['repos/upload-release-asset'] },
  { question: 'give issue 15 a thumbs up', tools: ['reactions/create-for-issue'] },
  { question: 'bring my fork up to date with the original repo', tools: ['repos/merge-upstream'] },
  { question: 'save this gist to my starred ones', tools: ['gists/star'] },
  { question: 'what environments can we deploy to from this repo', tools: ['repos/get-all-environments'] },
  {
    question: 'spin up a codespace for the frontend repo',
    tools: ['codespaces/create-with-repo-for-authenticated-user', 'codespaces/create-for-authenticated-user'],
  },
  {
    question: "who hasn't accepted their invite to the platform team yet",
    tools: ['teams/list-pending-invitations-in-org', 'teams/list-pending-invitations-legacy'],
  },
  { question: 'how many API calls do I have left this hour', tools: ['rate-limit/get'] },
  { question: 'what project boards does our organization have', tools: ['projects/list-for-org'] },
  { question: 'change the name of branch master to main', tools: ['repos/rename-branch'] },
  { question: 'find open issues anywhere that mention a memory leak', tools: ['search/issues-and-pull-requests'] },
  { question: 'clear my notifications, I have seen them all', tools: ['activity/mark-notifications-as-read'] },
  { question: 'put issue 77 on my roadmap project board', tools: ['projects/add-item-for-user'] },
  {
    question: 'the design team should no longer have access to this repo',
    tools: ['teams/remove-repo-in-org', 'teams/remove-repo-legacy'],
  },
];
