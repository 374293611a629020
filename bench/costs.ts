import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedClickHouse } from '../src/adapters/clickhouse/embedded.js'
import { startService } from './support/child.js'
import { median, ratio } from './support/report.js'
import { fillTraces, PROJECT } from './support/traces.js'

/**
 * How much longer does `/trace/usage` of a whole trace take with costs? Both asked in turn, read to the last byte. The
 * larger trace is remembered between questions; the smaller one is summed up each time.
 */

const KEY = 'administrator-key-of-the-bench'
const SIZES = [10_000, 4000]
const TIMES = 40
const WARM_UP = 15
const GOAL = 1.3

const fill = async (directory: string): Promise<void> => {
  await fillTraces(directory, SIZES)
  const clickHouse = await openEmbeddedClickHouse(join(directory, 'clickhouse'))
  await clickHouse.writer
    .command(`INSERT INTO prices (owner, id, llm_id, prompt_token_cost, completion_token_cost,
    cache_read_input_token_cost, cache_creation_input_token_cost, effective_date, created_at, published_position)
    VALUES ('default', 'price', 'gpt-4', 0.00003, 0.00006, 0, 0, '2024-01-01', '2024-01-01', 1)`)
  await clickHouse.close()
}

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
try {
  // The engine may be open in one process at a time: another process makes the tables.
  if (process.argv[2] === 'fill') {
    await fill(process.argv[3]!)
    process.exit(0)
  }
  const { execFileSync } = await import('node:child_process')
  execFileSync(process.execPath, ['--import', 'tsx', import.meta.filename, 'fill', directory], {
    stdio: 'inherit',
  })
  const service = await startService({
    TALLYTREE_PORT: '0',
    TALLYTREE_DATA_DIR: directory,
    TALLYTREE_BOOTSTRAP_API_KEY: KEY,
  })

  const ask = async (size: number, include_costs: boolean): Promise<number> => {
    const begin = performance.now()
    const response = await fetch(`${service.address}/trace/usage`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        project_id: PROJECT,
        filter: { trace_ids: [`trace-${size}`] },
        limit: 1_000_000,
        include_costs,
      }),
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${response.status} ${text}`)
    if (include_costs && !/"prompt_tokens_total_cost":0\.[0-9]*[1-9]/.test(text)) throw new Error('no costs')
    return performance.now() - begin
  }

  for (const size of SIZES) {
    const [without, withCosts]: [number[], number[]] = [[], []]
    for (let i = -WARM_UP; i < TIMES; i += 1)
      for (const costs of i % 2 === 0 ? [false, true] : [true, false]) {
        const ms = await ask(size, costs)
        if (i >= 0) (costs ? withCosts : without).push(ms)
      }
    const [plain, priced] = [median(without), median(withCosts)]
    ratio(
      `usage of ${size} calls with costs ÷ without`,
      priced / plain,
      `<= ${GOAL.toFixed(1)}`,
      priced / plain <= GOAL,
      `${priced.toFixed(1)} ms; without ${plain.toFixed(1)} ms`,
    )
  }
  await service.stop()
} finally {
  await rm(directory, { recursive: true, force: true })
}
