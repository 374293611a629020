import type { JsonObject } from '../../../src/kernel/json/json.js'
import { planted } from '../../support/planted-texts.js'
import type { TestService } from '../../support/service.js'
import { until } from '../../support/until.js'
import { accepted, textIn } from '../calls/given.js'

/** Longer values are files. */
const LARGE = 300_000

export const large = (text: string): string => `${text} ${'x'.repeat(LARGE)}`

/** Gives feedback of each kind on a call; replaced and purged feedback too. Returns the texts in it. */
export const feedbackOn = async (
  service: TestService,
  project: string,
  call: string,
): Promise<readonly string[]> => {
  const texts: string[] = []
  const text = (name: string) => {
    const one = planted(name)
    texts.push(one)
    return one
  }
  const give = async (feedback_type: string, payload: JsonObject, more: JsonObject = {}) =>
    textIn(
      accepted(
        await service
          .in(project)
          .post('/feedback/create', {
            ...{ project_id: project, weave_ref: `weave:///${project}/call/${call}` },
            ...{ feedback_type, payload, ...more },
          }),
      ),
      'id',
    )
  await give('wandb.reaction.1', { emoji: '👍' })
  const spec = { _type: 'AnnotationSpec', _class_name: 'AnnotationSpec', _bases: ['Object', 'BaseModel'] }
  const { digest } = await service.in(project).objects.create('correct', spec).json()
  const annotation_ref = `weave:///${project}/object/correct:${digest}`
  await give('wandb.annotation.correct', { value: text('annotation') }, { annotation_ref })
  await give(
    'wandb.runnable.judge',
    { output: { score: 0.5, why: text('scorer') } },
    {
      runnable_ref: `weave:///${project}/op/judge:${'d'.repeat(43)}`,
      call_ref: `weave:///${project}/call/judged`,
      scorer_tags: [text('tag')],
      scorer_tag_reasons: { a: text('tag-reason') },
    },
  )
  await give('custom', { long: large(text('long')) })
  const noted = await give('wandb.note.1', { note: text('note') }, { creator: text('creator') })
  accepted(
    await service
      .in(project)
      .post('/feedback/replace', {
        ...{ project_id: project, weave_ref: `weave:///${project}/call/${call}`, feedback_id: noted },
        ...{ feedback_type: 'wandb.note.1', payload: { note: text('replacing') } },
      }),
  )
  const purged = await give('wandb.note.1', { note: text('purged') })
  accepted(
    await service
      .in(project)
      .post('/feedback/purge', {
        project_id: project,
        query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: purged }] } },
      }),
  )
  return texts
}

/** Erases the content of calls, and waits for the receipt. */
export const erase = async (
  service: TestService,
  project: string,
  calls: readonly string[],
): Promise<JsonObject> => {
  const path = `/api/projects/${project}/erasures`
  const request = { selection: { filter: { call_ids: calls } }, reason: 'a test' }
  const id = textIn(accepted(await service.post(path, request))['erasure'] as JsonObject, 'id')
  let erasure: JsonObject = {}
  await until(async () => {
    erasure = accepted(await service.send('GET', `${path}/${id}`))
    return erasure['state'] === 'finished'
  })
  return erasure
}
