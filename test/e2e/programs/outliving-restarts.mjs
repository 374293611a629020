/**
 * Works until a file appears: traces ops, publishes objects, evaluates, and gives scores. Prints what it did as JSON.
 *
 *   WF_TRACE_SERVER_URL=… WANDB_API_KEY=… node outliving-restarts.mjs <entity>/<project> <file>
 */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import * as weave from 'weave'

const [, , project_id, stopFile] = process.argv
const client = await weave.init(project_id)

const usage = (prompt_tokens) => ({ usage: { model: { prompt_tokens, completion_tokens: 1 } } })
const inner = weave.op((n) => n * 2, { name: 'inner', parameterNames: ['n'], summarize: usage })
const outer = weave.op(async (n) => (await inner(n)) + (await inner(n + 1)), {
  name: 'outer',
  parameterNames: ['n'],
})
const right = weave.op(({ datasetRow, modelOutput }) => modelOutput === datasetRow.n * 2, {
  name: 'right',
  parameterNames: 'useParam0Object',
})
const model = weave.op(({ datasetRow }) => datasetRow.n * 2, {
  name: 'model',
  parameterNames: 'useParam0Object',
  summarize: usage,
})

const evaluate = async (n) => {
  const rows = [{ n }, { n: n + 1 }, { n: n + 2 }]
  const dataset = new weave.Dataset({ name: 'steps', rows })
  await new weave.Evaluation({ name: 'over steps', dataset, scorers: [right] }).evaluate({ model })
  return (await dataset.save()).uri()
}

const done = { outer: 0, versions: [], datasets: [], scored: [] }
for (let n = 0; !existsSync(stopFile); n += 1) {
  const [, call] = await outer.invoke(n)
  done.outer += 1
  if (n % 5 === 0) done.versions.push((await client.publish({ n }, 'step')).digest)
  if (n % 15 === 0) done.datasets.push(await evaluate(n))
  if (n % 7 === 0) {
    await client.addScore(call.id, call.id, `weave:///${project_id}/object/steady:${'x'.repeat(43)}`, n)
    done.scored.push(n)
  }
  await sleep(5)
}
await client.waitForBatchProcessing()
console.log(JSON.stringify(done))
