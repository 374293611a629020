/**
 * The program of `research.mjs` without an SDK: each call is told by two requests, and reports what it used itself,
 * never what its children used.
 *
 *   TALLYTREE_URL=… TALLYTREE_API_KEY=… node research-over-rest.mjs <entity>/<project>
 */
import { randomUUID } from 'node:crypto'

const { TALLYTREE_URL, TALLYTREE_API_KEY } = process.env
const project_id = process.argv[2]
const trace_id = randomUUID()

const post = async (path, body) => {
  const response = await fetch(`${TALLYTREE_URL}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TALLYTREE_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
}

/** `work` gets a function that calls another op below this one. */
const op = (op_name, parameter, work) => async (parent_id, input) => {
  const id = randomUUID()
  const started_at = new Date().toISOString()
  const inputs = { [parameter]: input }
  await post('/call/start', {
    start: { project_id, id, trace_id, parent_id, op_name, started_at, attributes: {}, inputs },
  })
  const status_counts = { success: 0, error: 0 }
  const call = async (other, argument) => {
    try {
      const output = await other(id, argument)
      status_counts.success += 1
      return output
    } catch (error) {
      status_counts.error += 1
      throw error
    }
  }
  const end = (ended) =>
    post('/call/end', { end: { project_id, id, ended_at: new Date().toISOString(), ...ended } })
  try {
    const output = await work(call, input)
    status_counts.success += 1
    const usage = output.usage === undefined ? {} : { usage: { [output.model]: output.usage } }
    await end({ output, summary: { ...usage, status_counts } })
    return output
  } catch (error) {
    await end({ exception: error.message, summary: {} })
    throw error
  }
}

const plan = op('plan', 'question', async () => ({
  text: 'one, two, three',
  model: 'planner',
  usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
}))

const search = op('search', 'topic', async (_, topic) => ({
  text: `pages on ${topic}`,
  model: 'embedder',
  usage: { prompt_tokens: 8 * topic },
}))

const read = op('read', 'topic', async (_, topic) => ({
  text: `notes on ${topic}`,
  model: 'reader',
  usage: { input_tokens: 40 * topic, output_tokens: 9 * topic, cache_read_input_tokens: 16 },
}))

const research = op('research', 'topic', async (call, topic) => {
  const found = await call(search, topic)
  const { text } = await call(read, topic)
  return `${found.text}, ${text}`
})

const judge = op('judge', 'text', async () => ({
  text: 'no',
  model: 'planner',
  usage: { prompt_tokens: 10, completion_tokens: 1 },
}))

const check = op('check', 'text', async (call, text) => {
  const verdict = await call(judge, text)
  throw new Error(`not convinced: ${verdict.text}`)
})

const polish = op('polish', 'text', async (_, text) => ({
  text: `${text}!`,
  model: 'writer',
  usage: { prompt_tokens: 20, completion_tokens: 25 },
}))

const write = op('write', 'notes', async (call, notes) => ({
  text: (await call(polish, notes.join('; '))).text,
  model: 'writer',
  usage: { prompt_tokens: 60, completion_tokens: 30, total_tokens: 90 },
}))

const answer = op('answer', 'question', async (call, question) => {
  await call(plan, question)
  const notes = await Promise.all([1, 2, 3].map((topic) => call(research, topic)))
  await call(check, notes[0]).catch(() => undefined)
  return (await call(write, notes)).text
})

await answer(null, 'Why?')
