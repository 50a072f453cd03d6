export { App, APP_MIME_TYPE, type AppCsp, type AppOptions, type AppPermission } from './app.js';
export { apps } from './apps.js';
export type { ToolUi, ToolVisibility } from './tool-ui.js';
