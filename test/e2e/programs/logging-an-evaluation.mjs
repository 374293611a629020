/**
 * Logs predictions and scores as they come, without a dataset.
 *
 *   WF_TRACE_SERVER_URL=… WANDB_API_KEY=… node logging-an-evaluation.mjs <entity>/<project>
 */
import * as weave from 'weave'

const client = await weave.init(process.argv[2])

const log = new weave.EvaluationLogger({
  name: 'logged',
  model: { name: 'adder' },
  dataset: 'sums',
  attributes: { branch: 'main' },
})

for (const [a, b, sum, correct] of [
  [1, 2, 3, true],
  [2, 2, 5, false],
  [3, 4, 7, true],
]) {
  const prediction = log.logPrediction({ a, b }, sum)
  prediction.logScore('correct', correct)
  prediction.logScore('error', Math.abs(sum - a - b))
  prediction.finish()
}
await log.logSummary()
await client.waitForBatchProcessing()
console.log(JSON.stringify({ calls: (await client.getCalls()).length }))
