import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ClickHouse, Rows } from '../../../../src/kernel/ports/clickhouse.js'
import { callIds } from '../../../../src/projections/calls/pages.js'
import { readTotals } from '../../../../src/projections/usage/query/open-traces.js'
import { commonModels } from '../../../../src/projections/usage/query/model-values.js'
import { readUsedModels } from '../../../../src/projections/usage/query/used-models.js'
import type { UsedModel } from '../../../../src/domain/query/expression.js'
import { usageOfCalls } from '../../../../src/projections/usage/query/groups-sql.js'
import { COUNTERS } from '../../../../src/projections/usage/columns.js'
import { saturated } from '../../../../src/projections/usage/own-usage.js'
import { usageFrom } from '../../../../src/projections/usage/queries.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { runTotalsPass } from '../../../../src/projections/usage/totals-pass.js'
import { COUNTS } from '../../../counts.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { arbitraryUsageCase, inProject } from '../../../support/oracle/cases.js'
import { recording } from './handling.js'

const CASES = COUNTS.usageFields
const REQUESTS = 0

describe('inclusive usage in lists of calls', () => {
  let clickHouse: ClickHouse

  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  it(`sorts calls by inclusive usage and selects those of a model, whenever totals were stored, in ${CASES} random cases`, async function () {
    this.timeout(0)
    const { reader, writer } = clickHouse
    const tables = { reader, insert: (rows: Rows) => writer.insert(rows) }
    let projects = 0
    const law = fc.asyncProperty(arbitraryUsageCase, fc.nat(120), async (usageCase, storedAfter) => {
      const projectId = `team/project-${(projects += 1)}`
      for (const table of ['checkpoints', 'usage_facts']) await writer.command(`TRUNCATE TABLE ${table}`)
      const { recorder, project } = recording(tables, projectId)
      const { operations } = inProject(projectId, usageCase)
      for (const [index, operation] of operations.entries()) {
        await recorder.take(operation)
        if (index !== Math.floor((operations.length * storedAfter) / 100)) continue
        await project()
        await runTotalsPass(clickHouse, recorder.head)
      }
      await project()

      const selection = { projectId, filter: null, operation: null, position: recorder.head }
      const { calls } = await usageFrom()(reader, { ...selection, limit: 10_000, maxTraceCalls: 1000 })
      const requests = new Map(
        calls.map(({ id, usage }) => [
          id,
          [...usage.values()].reduce((sum, counters) => sum + saturated(counters[REQUESTS]!), 0),
        ]),
      )
      const usedBy = async ($usedModel: UsedModel) => {
        const asked = { ...selection, operation: { $usedModel } }
        const page = { sortBy: [{ field: 'id', direction: 'asc' } as const], limit: 10_000, offset: null }
        const found = await readUsedModels(reader, asked, (selected) =>
          callIds(reader)({ ...selected, ...page }),
        )
        return found.map(({ id }) => id)
      }
      const modelsOf = ({ usage, charges }: (typeof calls)[number]) =>
        [...usage].flatMap(([key, counters]) =>
          counters.slice(0, COUNTERS.length).some(Boolean) ? [charges[key]!.model] : [],
        )
      for (const model of new Set(calls.flatMap(modelsOf))) {
        const using = calls.filter((call) => modelsOf(call).includes(model))
        assert.deepEqual(await usedBy(model), using.map(({ id }) => id).sort())
      }
      const counts = await commonModels(reader, selection, 'own', { contains: '', limit: 100 })
      for (const { value, calls: count } of counts) assert.equal((await usedBy([value, 'own'])).length, count)
      const sortBy = [{ field: 'usage.requests', direction: 'desc' } as const]
      const sorted = await readTotals(reader, { ...selection, kind: 'inclusive', prices: null }, (open) => {
        const usage = usageOfCalls(selection, open)
        return callIds(reader)({ ...selection, usage, sortBy, limit: 10_000, offset: null })
      })
      assert.deepEqual(
        sorted.map(({ id }) => id),
        [...requests.keys()].sort(
          (a, b) => requests.get(b)! - requests.get(a)! || Buffer.compare(Buffer.from(a), Buffer.from(b)),
        ),
      )
    })
    await fc.assert(law, { numRuns: CASES })
  })
})
