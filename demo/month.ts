import { ANSWERS, callsOf, demoCalls, randomFrom, usage, type DemoCall, type Node } from './records.js'

const DAY_MS = 86_400_000

/** The report that made one day dear: a large model was given whole documents. */
const report = (n: number, random: () => number): Node => {
  const question = `Summarise all tickets of customer cus_${1000 + n} since the beginning of the year.`
  const [prompt, completion] = [90_000 + Math.floor(30_000 * random()), 2000 + Math.floor(900 * random())]
  const model = 'claude-3-5-sonnet-20241022'
  return {
    op: 'write_report',
    inputs: { customer: `cus_${1000 + n}` },
    output: `## Customer cus_${1000 + n}\n\n${ANSWERS[n % ANSWERS.length]!}`,
    children: [
      {
        op: 'anthropic.messages.create',
        inputs: { model, max_tokens: 4096, messages: [{ role: 'user', content: question }] },
        output: {
          model,
          role: 'assistant',
          content: [{ type: 'text', text: ANSWERS[n % ANSWERS.length]! }],
          stop_reason: 'end_turn',
        },
        usage: { [model]: usage(prompt, completion) },
        before: 9000 + Math.floor(9000 * random()),
      },
    ],
  }
}

/** How many days ago the dear day was. */
const DEAR_DAY = 6

/** A month of the assistant, with a day on which one user's reports cost more than the rest of the month. */
export const demoMonth = (project: string, now: number, traces = 600): readonly DemoCall[] => {
  const random = randomFrom(11)
  const day = Math.floor(now / DAY_MS - DEAR_DAY) * DAY_MS
  const reports = Array.from({ length: Math.ceil(traces / 12) }, (_, n) =>
    callsOf(project, report(n, random), day + 9 * 3_600_000 + n * 90_000, 'lucia', `reports-${n % 3}`),
  )
  return [...demoCalls(project, now, { traces, days: 30 }), ...reports.flat()]
}
