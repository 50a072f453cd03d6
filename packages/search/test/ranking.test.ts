import { afterEach, describe, expect, it } from '@jest/globals';

import { clientOf, closeAll, found } from './clients.js';
import { shop } from './shop.js';

afterEach(closeAll);

describe('a search', () => {
  it('finds what is about people first if it asks who, whatever the server calls them', async () => {
    const tools = {
      get_team: ['Gets a team'],
      rename_team: ['Renames a team'],
      list_team_members: ['Lists the members of a team'],
    } as const;
    const client = await clientOf(shop({}, { tools }));
    expect((await found(client, 'who is in the team'))[0]).toBe('list_team_members');
  });

  it('changes nothing for a question, although it has the verb of a change', async () => {
    const tools = {
      delete_branch: ['Deletes a branch'],
      list_merged_branches: ['Lists branches that are merged, which nobody needs to keep'],
    } as const;
    const client = await clientOf(shop({}, { tools }));
    expect((await found(client, 'which merged branch can I delete'))[0]).toBe('list_merged_branches');
    expect((await found(client, 'delete a merged branch'))[0]).toBe('delete_branch');
  });

  it('has something else among the first, too, if many tools have similar names', async () => {
    const spans = ['minute', 'hour', 'day', 'week', 'month', 'year', 'decade'];
    const reports = spans.map((span): [string, [string]] => [
      `report_store_sales_by_${span}`,
      [`Reports the sales of a store by ${span}`],
    ]);
    const forecast = 'Tells what volume of sales is likely, for all stores and for each article';
    const tools = { ...Object.fromEntries(reports), forecast_total_sales_volume: [forecast] as const };
    const client = await clientOf(shop({}, { tools }));
    const names = await found(client, 'sales');
    expect(names[0]).toBe('report_store_sales_by_minute');
    expect(names).toContain('forecast_total_sales_volume');
    expect(await found(client, 'sales')).toEqual(names);
  });
});
