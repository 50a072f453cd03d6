import { withText } from './json-text.js';
import { isJson, type Json, notification, paramsOf } from './message.js';

/** The first notification of each subscription. */
export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** The subscription filter for each notification. */
const FILTERS: Readonly<Record<string, string>> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
};
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** Whether a notification says that a list has changed. */
export const isListChange = (method: unknown): boolean => typeof method === 'string' && method in FILTERS;

/** The subscription that a notification belongs to. */
export function subscriptionOf(message: Json): unknown {
  const meta = paramsOf(message)['_meta'];
  return isJson(meta) ? meta[SUBSCRIPTION] : undefined;
}

/**
 * The notification that a list has changed, for one subscription; undefined if the client didn't ask for it.
 * @param listen the client's `subscriptions/listen`
 */
export function changeFor(listen: Json, method: string): Json | undefined {
  const wanted = paramsOf(listen)['notifications'];
  const filter = FILTERS[method];
  if (filter === undefined || !isJson(wanted) || wanted[filter] !== true) return undefined;
  return notification(method, { _meta: { [SUBSCRIPTION]: listen['id'] } });
}

/** The text of an acknowledgement, for all lists that the client asked for, because the next edit may add them. */
export function acknowledgeLists(text: string, listen: Json): string {
  const wanted = paramsOf(listen)['notifications'];
  if (!isJson(wanted)) return text;
  const lists = Object.values(FILTERS).filter((name) => wanted[name] === true);
  return lists.reduce((acknowledged, name) => withText(acknowledged, ['params', 'notifications', name], 'true'), text);
}
