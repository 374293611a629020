/**
 * Gives feedback on a call, changes it, takes some of it back, and prints what it saw as JSON.
 *
 *   WF_TRACE_SERVER_URL=… WANDB_API_KEY=… node giving-feedback.mjs <entity>/<project>
 */
import * as weave from 'weave'

const project_id = process.argv[2]
const client = await weave.init(project_id)
const { feedback } = client.traceServerApi

const answer = weave.op((question) => `${question}!`, { name: 'answer' })
await answer('Why?')
await answer('How?')
await client.waitForBatchProcessing()
const calls = await client.getCalls()
const [weave_ref, other_ref] = calls.map(({ id }) => `weave:///${project_id}/call/${id}`)

const give = async (feedback_type, payload, more) =>
  (
    await feedback.feedbackCreateFeedbackCreatePost({
      project_id,
      weave_ref,
      feedback_type,
      payload,
      ...more,
    })
  ).data
const query = async (body) => (await feedback.feedbackQueryFeedbackQueryPost({ project_id, ...body })).data
const on = (ref) => ({ $expr: { $eq: [{ $getField: 'weave_ref' }, { $literal: ref }] } })

const given = [
  await give('wandb.reaction.1', { emoji: '\ud83d\udc4d' }),
  await give('wandb.note.1', { note: 'well said' }, { creator: 'ada' }),
  await give('custom', { deep: { value: [1, null, 'ü'] } }, { weave_ref: other_ref }),
]
const { result } = await query({ sort_by: [{ field: 'created_at', direction: 'asc' }] })
const onFirst = await query({ query: on(weave_ref), fields: ['id', 'payload.note'], limit: 1, offset: 1 })

const replaced = await feedback.feedbackReplaceFeedbackReplacePost({
  project_id,
  weave_ref,
  feedback_type: 'wandb.note.1',
  payload: { note: 'said better' },
  feedback_id: given[1].id,
})
const notes = { $expr: { $eq: [{ $getField: 'feedback_type' }, { $literal: 'wandb.note.1' }] } }
const afterReplace = await query({ query: notes })

const byId = (id) => ({ $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } })
const purged = (await feedback.feedbackPurgeFeedbackPurgePost({ project_id, query: byId(given[0].id) })).data
const left = await query({})

console.log(
  JSON.stringify({
    refs: [weave_ref, other_ref],
    given,
    result,
    onFirst,
    replaced: replaced.data,
    afterReplace,
    purged,
    left,
  }),
)
