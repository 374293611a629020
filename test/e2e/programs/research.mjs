/**
 * Answers a question in three levels of ops, with the tracing SDK as it is on npm.
 *
 *   WF_TRACE_SERVER_URL=… WANDB_API_KEY=… node research.mjs <entity>/<project>
 */
import * as weave from 'weave'

const client = await weave.init(process.argv[2])

/** An op that names what it used of which model. */
const model = (name, parameterNames, ask) =>
  weave.op(ask, { name, parameterNames, summarize: ({ model, usage }) => ({ usage: { [model]: usage } }) })

const plan = model('plan', ['question'], async () => ({
  text: 'one, two, three',
  model: 'planner',
  usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
}))

const search = model('search', ['topic'], async (topic) => ({
  text: `pages on ${topic}`,
  model: 'embedder',
  usage: { prompt_tokens: 8 * topic },
}))

const read = model('read', ['topic'], async (topic) => ({
  text: `notes on ${topic}`,
  model: 'reader',
  usage: { input_tokens: 40 * topic, output_tokens: 9 * topic, cache_read_input_tokens: 16 },
}))

const research = weave.op(
  async (topic) => {
    const found = await search(topic)
    const { text } = await read(topic)
    return `${found.text}, ${text}`
  },
  { name: 'research', parameterNames: ['topic'] },
)

const judge = model('judge', ['text'], async () => ({
  text: 'no',
  model: 'planner',
  usage: { prompt_tokens: 10, completion_tokens: 1 },
}))

const check = weave.op(
  async (text) => {
    const verdict = await judge(text)
    throw new Error(`not convinced: ${verdict.text}`)
  },
  { name: 'check', parameterNames: ['text'] },
)

const polish = model('polish', ['text'], async (text) => ({
  text: `${text}!`,
  model: 'writer',
  usage: { prompt_tokens: 20, completion_tokens: 25 },
}))

const write = model('write', ['notes'], async (notes) => ({
  text: (await polish(notes.join('; '))).text,
  model: 'writer',
  usage: { prompt_tokens: 60, completion_tokens: 30, total_tokens: 90 },
}))

const answer = weave.op(
  async (question) => {
    await plan(question)
    const notes = await Promise.all([1, 2, 3].map((topic) => research(topic)))
    await check(notes[0]).catch(() => undefined)
    return (await write(notes)).text
  },
  { name: 'answer', parameterNames: ['question'] },
)

await answer('Why?')
await client.waitForBatchProcessing()
