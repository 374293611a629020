/**
 * An agent as one would write it, traced with the npm package `weave`: it plans, researches three topics at once, and
 * writes. The models are made up, and so is what they use, so that the totals are known. One tool fails, and the agent
 * goes on without it.
 */
import * as weave from 'weave'

const client = await weave.init(process.argv[2])

/** An op that calls a made-up model and reports what the call used. */
const model = (name, answer) =>
  weave.op(answer, { name, summarize: ({ model, usage }) => ({ usage: { [model]: usage } }) })

const think = model('think', async (prompt) => ({
  text: `a plan for ${prompt}`,
  model: 'large-model',
  usage: { requests: 1, prompt_tokens: 420, completion_tokens: 96 },
}))

const read = model('read', async (topic) => ({
  text: `notes on ${topic}`,
  model: 'small-model',
  usage: { requests: 1, prompt_tokens: 900 + 100 * topic.length, completion_tokens: 150 },
}))

const proofread = model('proofread', async (text) => ({
  text: `${text}.`,
  model: 'small-model',
  usage: { requests: 1, prompt_tokens: 450, completion_tokens: 440 },
}))

/** Uses something itself, and something through the op that it calls. */
const compose = model('compose', async (notes) => ({
  text: (await proofread(`An answer from ${notes.length} notes`)).text,
  model: 'large-model',
  usage: { requests: 1, prompt_tokens: 1300, completion_tokens: 410 },
}))

const searchArchive = weave.op(
  async (topic) => {
    throw new Error(`the archive is closed: nothing on ${topic}`)
  },
  { name: 'search_archive' },
)

const plan = weave.op(
  async (question) => {
    await think(question)
    return ['roots', 'bark', 'leaves']
  },
  { name: 'plan' },
)

const research = weave.op(
  async (topic) => {
    if (topic === 'leaves') await searchArchive(topic).catch(() => undefined)
    return (await read(topic)).text
  },
  { name: 'research' },
)

const write = weave.op(async (notes) => (await compose(notes)).text, { name: 'write' })

const answer = weave.op(
  async (question) => {
    const topics = await plan(question)
    const notes = await Promise.all(topics.map((topic) => research(topic)))
    return write(notes)
  },
  { name: 'answer' },
)

await answer('How does a tree grow?')
await client.waitForBatchProcessing()
