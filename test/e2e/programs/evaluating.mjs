/**
 * Evaluates a model, which fails on one row, on a dataset with two scorers, one of which asks a model itself. Prints
 * what the evaluation says and the reference of the dataset, as JSON.
 *
 *   WF_TRACE_SERVER_URL=… WANDB_API_KEY=… node evaluating.mjs <entity>/<project>
 */
import * as weave from 'weave'

const client = await weave.init(process.argv[2])
const usageOf = ({ model, usage }) => ({ usage: { [model]: usage } })

const dataset = new weave.Dataset({
  name: 'capitals',
  rows: [
    { country: 'France', capital: 'Paris' },
    { country: 'Japan', capital: 'Tokyo' },
    { country: 'Atlantis', capital: 'none' },
    { country: 'Peru', capital: 'Lima' },
    { country: 'Kenya', capital: 'Nairobi' },
  ],
})

const GUESSES = { France: 'Paris', Japan: 'Kyoto', Peru: 'Lima', Kenya: 'Nairobi' }

const capitalOf = weave.op(
  async ({ datasetRow: { country } }) => {
    if (!(country in GUESSES)) throw new Error(`${country} is not on the map`)
    const usage = { prompt_tokens: 10, completion_tokens: country.length }
    return { text: GUESSES[country], model: 'guesser', usage }
  },
  { name: 'capital_of', parameterNames: 'useParam0Object', summarize: usageOf },
)

const exact = weave.op(({ datasetRow, modelOutput }) => datasetRow.capital === modelOutput.text, {
  name: 'exact',
  parameterNames: 'useParam0Object',
})

const judged = weave.op(
  async ({ datasetRow, modelOutput }) => ({
    points: datasetRow.capital === modelOutput.text ? 1 : 0.5,
    capitalised: true,
    model: 'judge',
    usage: { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 },
  }),
  { name: 'judged', parameterNames: 'useParam0Object', summarize: usageOf },
)

const evaluation = new weave.Evaluation({ name: 'on capitals', dataset, scorers: [exact, judged] })
const result = await evaluation.evaluate({ model: capitalOf })
await client.waitForBatchProcessing()
console.log(JSON.stringify({ result, dataset: (await dataset.save()).uri() }))
