import assert from 'node:assert/strict'
import { isFull } from '../../counts.js'
import { baseState } from '../../../src/engine/checkpoint.js'
import { meanOf } from '../../../src/engine/advantages.js'
import { SequenceInvalid, TrainingDiverged } from '../../../src/engine/errors.js'
import { trainRl, type RlGroup, type RlTrajectory } from '../../../src/engine/rl.js'
import { rlGroup, RL_OPTIONS } from './support.js'

const JOBS = 16
const SEEDS = isFull ? 5 : 1

const state = baseState('tiny/byte')
const noStep = (): void => assert.fail('no step was expected')

const trajectory = (reward: number, trainable = 4): RlTrajectory => {
  const tokens = Array.from({ length: 6 }, (_, index) => 97 + index)
  return {
    reward,
    sequences: [
      { tokens, mask: tokens.map((_, index) => index >= 6 - trainable), logprobs: tokens.map(() => null) },
    ],
  }
}

describe('reinforcement learning', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1)
    it(`raises the reward over ${JOBS} jobs, seed ${seed}`, () => {
      let current = baseState('tiny/byte', seed)
      const rewards: number[] = []
      for (let job = 0; job < JOBS; job += 1) {
        const groups = ['hello', 'world'].map((question, index) =>
          rlGroup(current, question, (seed * JOBS + job) * 2 + index),
        )
        rewards.push(meanOf(groups.flat().map(({ reward }) => reward)))
        const options = { ...RL_OPTIONS, lossFn: job % 2 === 0 ? 'ppo' : 'cispo' } as const
        current = trainRl(current, groups, options, () => {}).state
      }
      const [first, last] = [meanOf(rewards.slice(0, 4)), meanOf(rewards.slice(-4))]
      assert.ok(last > 1.5 * first, `${first} → ${last}`)
    })

  it('reports finite metrics', () => {
    const groups = [rlGroup(state, 'hello', 1), [trajectory(1), trajectory(0)], [trajectory(3)]]
    const steps: Readonly<Record<string, number>>[] = []
    const result = trainRl(state, groups, RL_OPTIONS, (metrics) => steps.push(metrics))
    assert.equal(result.gradientSteps, 1)
    assert.equal(steps.length, 1)
    const [metrics] = steps
    assert.ok(Object.values(metrics!).every(Number.isFinite))
    assert.equal(metrics!['num_groups_submitted'], 3)
    assert.equal(metrics!['num_groups_trainable'], 2)
    assert.ok(Math.abs(metrics!['kl_div']!) < 1e-6)
    assert.ok(Math.abs(metrics!['entropy']! - Math.log(264)) < 0.2)
  })

  it('makes no step where no group has a signal', () => {
    const withoutSignal: readonly RlGroup[] = [
      [],
      [trajectory(1)],
      [trajectory(2), trajectory(2)],
      [trajectory(1, 0), trajectory(0, 0)],
    ]
    const result = trainRl(state, withoutSignal, RL_OPTIONS, noStep)
    assert.deepEqual(result, { state, gradientSteps: 0 })
    assert.deepEqual(trainRl(state, [], RL_OPTIONS, noStep), result)
  })

  it('drops sequences longer than the context', () => {
    const tokens = Array<number>(513).fill(97)
    const long = { tokens, mask: tokens.map(() => true), logprobs: tokens.map(() => null) }
    const group = [{ reward: 1, sequences: [long] }, trajectory(0)]
    trainRl(state, [group], RL_OPTIONS, (metrics) => assert.equal(metrics['num_trajectories'], 1))
  })

  it('makes rewarded tokens more probable and others less', () => {
    const rewarded = { ...trajectory(1), sequences: [{ ...trajectory(1).sequences[0]! }] }
    const other: RlTrajectory = {
      reward: 0,
      sequences: rewarded.sequences.map((sequence) => ({
        ...sequence,
        tokens: sequence.tokens.map((token, index) => (index < 2 ? token : token + 50)),
      })),
    }
    const losses: number[] = []
    let current = state
    for (let job = 0; job < 10; job += 1)
      current = trainRl(current, [[rewarded, other]], RL_OPTIONS, ({ loss }) => losses.push(loss!)).state
    assert.ok(losses.at(-1)! < losses[0]! - 1)
  })

  it('throws for rewards and rates that lead to numbers that are not finite', () => {
    const group = [trajectory(1e308), trajectory(-1e308)]
    assert.throws(() => trainRl(state, [group], RL_OPTIONS, noStep), TrainingDiverged)
    const options = { ...RL_OPTIONS, learningRate: 1e300 }
    assert.throws(() => trainRl(state, [[trajectory(1), trajectory(0)]], options, () => {}), TrainingDiverged)
  })

  it('refuses logprobs of another length than the tokens', () => {
    const sequences = trajectory(1).sequences.map((sequence) => ({ ...sequence, logprobs: [0] }))
    assert.throws(
      () => trainRl(state, [[{ reward: 1, sequences }, trajectory(0)]], RL_OPTIONS, noStep),
      SequenceInvalid,
    )
  })
})
