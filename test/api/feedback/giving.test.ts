import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, eventsOf, reasonOf, textIn, told, writesNothing } from '../calls/given.js'
import { arbitraryFeedbackId, eq, feedbackOf, refOfCall, someFeedback } from './given.js'

describe('giving feedback', () => {
  let service: TestService
  let project: string
  before(async () => (service = await sharedService()))
  beforeEach(() => (project = someProject()))
  const give = (body: unknown) => service.post('/feedback/create', body)

  it('is answered with what was recorded, and can be read at once', async () => {
    const answer = accepted(await give(someFeedback(project, { creator: 'Ada', wb_user_id: 'mallory' })))
    assert.deepEqual(Object.keys(answer), ['id', 'created_at', 'wb_user_id', 'payload'])
    assert.deepEqual(await feedbackOf(service, project), [
      {
        id: answer['id'],
        project_id: project,
        weave_ref: refOfCall(project),
        wb_user_id: 'admin',
        creator: 'Ada',
        created_at: answer['created_at'],
        feedback_type: 'custom',
        payload: { score: 1 },
        annotation_ref: null,
        runnable_ref: null,
        call_ref: null,
        trigger_ref: null,
        queue_id: null,
      },
    ])
  })

  it('is refused with a payload of more than 1 MiB, naming it', async () => {
    const of = (bytes: number) =>
      someFeedback(project, { payload: { text: 'x'.repeat(bytes - '{"text":""}'.length) } })
    await writesNothing(service, async () => {
      assert.deepEqual(told(await give(of(1024 * 1024 + 1))), ['too_long payload'])
      const batch = [of(100), of(3_000_000)]
      assert.deepEqual(told(await service.post('/feedback/batch/create', { batch })), [
        'too_long batch.1.payload',
      ])
    })
    accepted(await give(of(1024 * 1024)))
  })

  it('may be repeated under an id of the client’s own, and then writes nothing', async () => {
    const body = someFeedback(project, {
      id: arbitraryFeedbackId(),
      payload: { big: 'x'.repeat(500_000), n: 1 },
    })
    const first = accepted(await give(body))
    await writesNothing(service, async () => {
      assert.deepEqual(accepted(await give(body)), first)
      reasonOf(await give({ ...body, payload: { big: 'y'.repeat(500_000), n: 1 } }), 409)
      reasonOf(await give({ ...body, creator: 'another' }), 409)
    })
    assert.deepEqual(
      (await feedbackOf(service, project)).map(({ payload }) => payload),
      [body.payload],
    )
  })

  it('may be repeated under an idempotency key', async () => {
    const once = () =>
      service.post('/feedback/create', someFeedback(project), { headers: { 'idempotency-key': project } })
    const first = accepted(await once())
    await writesNothing(service, async () => assert.deepEqual(accepted(await once()), first))
  })

  it('adds the names and the plain form of a reaction’s emoji', async () => {
    const react = async (emoji: string) =>
      accepted(await give(someFeedback(project, { feedback_type: 'wandb.reaction.1', payload: { emoji } })))[
        'payload'
      ]
    assert.deepEqual(await react('👍🏽'), {
      emoji: '👍🏽',
      alias: ':thumbs_up_medium_skin_tone:',
      detoned: '👍',
      detoned_alias: ':thumbs_up:',
    })
    const names: readonly (readonly [string, string])[] = [
      ['🎱', ':pool_8_ball:'],
      ['👌🏿', ':OK_hand_dark_skin_tone:'],
      ['❤', ':red_heart:'],
      ['❤️', ':red_heart:'],
      ['🇫🇷', ':France:'],
      ['🇨🇩', ':Congo-Kinshasa:'],
      ['⛳', ':flag_in_hole:'],
      ['🏴‍☠️', ':pirate_flag:'],
      ['👨🏾‍🦳', ':man_medium-dark_skin_tone_white_hair:'],
      ['👩🏽‍❤️‍👨🏽', ':couple_with_heart_woman_man_medium_skin_tone:'],
      ['👨‍👩‍👧‍👦', ':family_man_woman_girl_boy:'],
      ['🈂️', ':Japanese_service_charge_button:'],
      ['1️⃣', ':keycap_1:'],
    ]
    for (const [emoji, alias] of names)
      assert.equal(((await react(emoji)) as JsonObject)['alias'], alias, emoji)
    for (const emoji of ['🏴󠁧󠁢󠁳󠁣󠁴󠁿', '🇫🇷', '👩‍👩‍👧‍👦', '1️⃣', '❤', '🧑🏼‍⚖️', '⚖️'])
      assert.equal(((await react(emoji)) as JsonObject)['emoji'], emoji)
  })

  const refused: readonly (readonly [string, object, string])[] = [
    ['no emoji', { feedback_type: 'wandb.reaction.1', payload: {} }, 'missing payload.emoji'],
    [
      'an emoji that is none',
      { feedback_type: 'wandb.reaction.1', payload: { emoji: 'x1#' } },
      'value_error payload.emoji',
    ],
    [
      'two emoji',
      { feedback_type: 'wandb.reaction.1', payload: { emoji: '👍👎' } },
      'value_error payload.emoji',
    ],
    [
      'an odd emoji',
      { feedback_type: 'wandb.reaction.1', payload: { emoji: 1 } },
      'string_type payload.emoji',
    ],
    ['no note', { feedback_type: 'wandb.note.1', payload: { note: null } }, 'string_type payload.note'],
    [
      'an empty note',
      { feedback_type: 'wandb.note.1', payload: { note: '' } },
      'string_too_short payload.note',
    ],
    [
      'a long note',
      { feedback_type: 'wandb.note.1', payload: { note: '😀'.repeat(1025) } },
      'string_too_long payload.note',
    ],
    [
      'an annotation of nothing',
      { feedback_type: 'wandb.annotation.a', payload: {} },
      'missing payload.value|missing annotation_ref',
    ],
    ['a runnable that is none', { feedback_type: 'wandb.runnable.r' }, 'missing runnable_ref'],
    [
      'a runnable of another name',
      { feedback_type: 'wandb.runnable.r', runnable_ref: 'weave:///a/b/op/s:d' },
      'value_error runnable_ref',
    ],
    ['references that say nothing', { call_ref: 'weave:///a/b/call/c' }, 'value_error call_ref'],
    ['figures of no scorer', { scorer_ratings: { a: 1 } }, 'value_error scorer_ratings'],
    ['a reference to elsewhere', { weave_ref: 'weave:///another/project/call/c' }, 'value_error weave_ref'],
    ['a reference that is none', { weave_ref: 'call' }, 'string_pattern_mismatch weave_ref'],
    ['no type', { feedback_type: '' }, 'string_too_short feedback_type'],
    ['a payload that is a list', { payload: [] }, 'dict_type payload'],
    ['an odd id', { id: 'a\u0000' }, 'string_pattern_mismatch id'],
    ['more', { more: 1 }, 'extra_forbidden more'],
  ]
  for (const [name, more, problems] of refused)
    it(`is refused with ${name}`, async () => {
      await writesNothing(service, async () => {
        assert.deepEqual(told(await give(someFeedback(project, more))), problems.split('|'))
        const batch = [someFeedback(project), someFeedback(project, more)]
        const inBatch = problems.split('|').map((one) => one.replace(' ', ' batch.1.'))
        assert.deepEqual(told(await service.post('/feedback/batch/create', { batch })), inBatch)
      })
    })

  it('takes what the SDKs send, explicit nulls and newer fields among it', async () => {
    const scored = someFeedback(project, {
      id: null,
      wb_user_id: null,
      feedback_type: 'wandb.runnable.accuracy',
      payload: { output: { ok: true } },
      runnable_ref: `weave:///${project}/op/accuracy:d`,
      call_ref: refOfCall(project, 'scorer'),
      creator: null,
      annotation_ref: null,
      trigger_ref: null,
      queue_id: null,
      scorer_tags: ['a'],
      scorer_tag_reasons: {},
      scorer_ratings: { r: 0.5 },
      scorer_rating_reasons: null,
      scorer_tag_confidences: {},
      scorer_rating_confidences: {},
      span_agent_name: '',
      scorer_trace_id: '',
    })
    accepted(await give(scored))
    const [row] = await feedbackOf(service, project)
    assert.deepEqual(row?.['scorer_tags'], ['a'])
    assert.deepEqual(row['scorer_ratings'], { r: 0.5 })
    assert.deepEqual(
      [row['queue_id'], 'scorer_ratings' in row, 'span_agent_name' in row],
      [null, true, false],
    )
  })

  it('in a batch answers in its order', async () => {
    const batch = [3, 1, 2].map((n) => someFeedback(project, { payload: { n }, id: `id-${n}` }))
    const { res } = accepted(await service.post('/feedback/batch/create', { batch }))
    assert.deepEqual(
      (res as JsonObject[]).map(({ id }) => id),
      ['id-3', 'id-1', 'id-2'],
    )
    assert.deepEqual(accepted(await service.post('/feedback/batch/create', { batch: [] })), { res: [] })
    const identical = someFeedback(project, { id: 'twice' })
    const { res: same } = accepted(
      await service.post('/feedback/batch/create', { batch: [identical, identical] }),
    )
    assert.deepEqual(
      (same as JsonObject[]).map(({ id }) => id),
      ['twice', 'twice'],
    )
  })

  it('in a batch is refused with every element that conflicts, and none is recorded', async () => {
    accepted(await give(someFeedback(project, { id: 'given' })))
    accepted(await give(someFeedback(project, { id: 'purged' })))
    await service
      .in(project)
      .feedback.purge({ query: { $expr: eq('id', 'purged') } })
      .json()
    const batch = [
      someFeedback(project, { id: 'new' }),
      someFeedback(project, { id: 'given', payload: { score: 2 } }),
      someFeedback(project, { id: 'new' }),
      someFeedback(project, { id: 'purged' }),
      someFeedback(project, { id: 'new', creator: 'Ada' }),
      someFeedback(project, { id: 'given' }),
    ]
    await writesNothing(service, async () =>
      assert.deepEqual(
        told(await service.post('/feedback/batch/create', { batch })),
        [1, 3, 4].map((at) => `conflict batch.${at}.id`),
      ),
    )
    const left = [0, 2, 5].map((at) => batch[at])
    accepted(await service.post('/feedback/batch/create', { batch: left }))
    assert.deepEqual((await feedbackOf(service, project)).map(({ id }) => id).toSorted(), ['given', 'new'])
  })

  it('is a conflict under the id of purged or replaced feedback', async () => {
    const body = someFeedback(project, { id: 'purged' })
    accepted(await give(body))
    await service
      .in(project)
      .feedback.purge({ query: { $expr: eq('id', 'purged') } })
      .json()
    assert.match(reasonOf(await give(body), 409), /was purged/)
    const old = someFeedback(project, { id: 'old' })
    accepted(await give(old))
    accepted(await service.post('/feedback/replace', { ...old, id: 'new', feedback_id: 'old' }))
    assert.match(reasonOf(await give(old), 409), /replaced/)
  })

  it('in the place of another purges that one', async () => {
    const first = textIn(accepted(await give(someFeedback(project))), 'id')
    const body = { ...someFeedback(project, { payload: { score: 2 } }), feedback_id: first }
    const second = accepted(await service.post('/feedback/replace', body))
    assert.notEqual(second['id'], first)
    assert.deepEqual(
      (await feedbackOf(service, project)).map(({ id }) => id),
      [second['id']],
    )
    const events = await eventsOf(service, `feedback-${project}/${first}`)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['FeedbackGiven', 'FeedbackReplaced'],
    )
    assert.deepEqual(told(await service.post('/feedback/replace', { ...body, id: first })), [
      'value_error id',
    ])
    accepted(await service.post('/feedback/replace', { ...body, feedback_id: 'unknown\u0000' }))
  })
})
