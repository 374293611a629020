import assert from 'node:assert/strict'
import { tableStatements } from '../../../../src/projections/migrate.js'
import { FACT_COLUMNS } from '../../../../src/projections/usage/columns.js'
import { TOTALS_COLUMNS } from '../../../../src/projections/usage/totals.js'

describe('the columns of usage', () => {
  const columnsIn = async (table: string): Promise<readonly string[]> => {
    const statement = (await tableStatements()).get(table)!
    return [...statement.matchAll(/^ {4}(?!INDEX)(\w+) /gm)].map(([, column]) => column!)
  }

  it('are those of the table `usage_facts`', async () => {
    assert.deepEqual([...FACT_COLUMNS].sort(), [...(await columnsIn('usage_facts'))].sort())
  })

  it('are those of the table `usage_totals`, besides what replaces its rows', async () => {
    const columns = [...TOTALS_COLUMNS, 'position', 'is_deleted']
    assert.deepEqual(columns.sort(), [...(await columnsIn('usage_totals'))].sort())
  })
})
