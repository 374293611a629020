import type { Send } from './evaluation.js'

const STEPS = 400
const UPSERT = 'mutation ($input: UpsertBucketInput!) { upsertBucket(input: $input) { bucket { id } } }'

const RUNS = [
  { id: 'small-steps', lr: 0.001 },
  { id: 'large-steps', lr: 0.03 },
  { id: 'too-large-steps', lr: 0.3 },
]

/** Training runs as the package `wandb` logs them, of which the last one diverges. */
export const demoRuns = async (project: string, now: number, send: Send): Promise<void> => {
  const [entityName, modelName] = project.split('/')
  for (const { id, lr } of RUNS) {
    const config = JSON.stringify({ lr: { value: lr }, optimizer: { value: { name: 'adam', beta: 0.9 } } })
    const input = { entityName, modelName, name: id, displayName: id, config }
    await send('POST', '/graphql', { query: UPSERT, variables: { input } })
    const rows = Array.from({ length: STEPS }, (_, step) => rowAt(step, lr, now))
    const lines = (name: string, content: readonly string[]) => ({ [name]: { offset: 0, content } })
    await send('POST', `/files/${project}/${id}/file_stream`, {
      files: {
        ...lines(
          'wandb-history.jsonl',
          rows.map((row) => JSON.stringify(row)),
        ),
        ...lines('wandb-summary.json', [JSON.stringify(rows.at(-1))]),
        ...lines('output.log', ['loading 40 000 conversations', 'training', 'saved the last checkpoint']),
      },
      complete: true,
      exitcode: 0,
    })
  }
}

const rowAt = (step: number, lr: number, now: number) => {
  const noise = Math.sin(step * 12.9898) * 0.05
  const diverging = lr > 0.1 && step > 250 ? (step - 250) / 40 : 0
  const loss = 2.4 * Math.exp(-step * lr * 0.4) + 0.4 + noise + diverging
  return {
    'train/loss': loss,
    'val/loss': loss * 1.1,
    'val/accuracy': Math.max(0, 0.95 - loss / 4),
    _step: step,
    _timestamp: now / 1000 - (STEPS - step) * 10,
  }
}
