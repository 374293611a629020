import assert from 'node:assert/strict'
import fc from 'fast-check'
import { catalogue } from '../../../src/domain/catalogue.js'
import { erasedData } from '../../../src/domain/erased-data.js'
import type { Codec } from '../../../src/kernel/codec/codec.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { blobsNamedBy } from '../../../src/kernel/spill/named-blobs.js'
import { arbitraryOf } from '../../support/arbitrary-of-codec.js'

/** Ids, names, times, figures and settings only. A new event type is added here, or has a rule. */
const WITHOUT_CONTENT = [
  ...['CallRenamed', 'CallDeleted', 'FeedbackReplaced', 'FeedbackPurged'],
  ...['UsageReportingChosen', 'ProjectCreated', 'RecordingChosen', 'CachingChosen'],
  ...['EndUserAttributeChosen', 'RetentionChosen'],
  ...['ObjectDeleted', 'ObjectTagsAdded', 'ObjectTagsRemoved', 'ObjectAliasesSet', 'ObjectAliasesRemoved'],
  ...['AnnotationQueueDeleted', 'AnnotationItemAdded', 'AnnotationItemProgressed'],
  ...['EvaluationRunRequested', 'EvaluationRunClaimed', 'EvaluationRunCancelRequested'],
  ...['EvaluationRuleDeleted', 'PricePublished', 'PriceWithdrawn', 'PriceListImported'],
  ...['TeamCreated', 'UserCreated', 'MemberAdded', 'MemberRemoved', 'ProjectDeleted'],
  ...['ApiKeyIssued', 'ApiKeyUsed', 'ApiKeyRevoked', 'SessionRenewed'],
  ...['ModelCreated', 'ModelDeleted', 'TrainingJobQueued', 'TrainingJobLeased', 'TrainingLeaseExtended'],
  ...['TrainingLeaseEnded', 'TrainingStarted', 'CheckpointsDeleted', 'TrainingEnded', 'DataFileDeleted'],
  ...['WorkerRegistered', 'CollectionCreated', 'VersionRepeated', 'VersionDeleted', 'AliasAdded'],
  ...['AliasRemoved', 'TagAdded', 'TagRemoved', 'ManifestNamed', 'ClientIdGiven', 'RegistryCreated'],
  ...['VersionUnlinked', 'RunStarted', 'ArtifactUsed', 'RunFinished', 'RunFailed', 'RunResumed', 'RunSeen'],
  ...['RunStopRequested', 'RunDeleted', 'SecretStored', 'SecretRotated', 'SecretUsesChanged'],
  ...['SecretDestroyed', 'NameTaken', 'NameReleased', 'WebhookCreated', 'WebhookChanged', 'WebhookEnabled'],
  ...['WebhookDisabled', 'WebhookFailing', 'WebhookReleased', 'WebhookDeleted', 'TestSent'],
  ...['WebhookHealthChanged', 'AutomationEnabled', 'AutomationDisabled', 'AutomationDeleted'],
  ...['AttemptStarted', 'AttemptFinished', 'AttemptOutcomeUnknown', 'DeliveryCanceled', 'DeliveryResent'],
  ...['DeliverySuppressed', 'RedriveAsked', 'UpstreamCreated', 'UpstreamChanged', 'UpstreamDeleted'],
  ...['LimitChosen', 'LimitRemoved', 'BudgetReached', 'UnknownCostsWrittenOff'],
  ...['CallsSelectedForErasure', 'CallsErased', 'ErasureFinished', 'RebuildRequested'],
]

const codecs = new Map(catalogue.flatMap(({ events }) => Object.entries(events)))
const hasContent = (type: string) => !WITHOUT_CONTENT.includes(type)

const SECRET = 'the planted text'

/** Fields with content; those of calls and feedback have tests of their own. */
const CONTENT: Readonly<Record<string, JsonObject>> = {
  ElementRefused: { loc: [SECRET], msg: SECRET, raw: SECRET, raw_blob: { digest: SECRET, size: 1 } },
  ProjectDescribed: { description: SECRET, repo: SECRET },
  ObjectPublished: { val: { prompt: SECRET }, spilled: { val: { digest: SECRET, size: 1 } } },
  TableRowsStored: { rows: [{ digest: SECRET, val: { a: SECRET } }] },
  TablePublished: { row_digests: [SECRET], spilled: { row_digests: { digest: SECRET, size: 1 } } },
  FileStored: { blob: SECRET },
  AnnotationQueueCreated: { description: SECRET },
  AnnotationQueueChanged: { description: SECRET },
  EvaluationRunFinished: {
    summary: { scorer: { mean: 1, note: SECRET } },
    error: SECRET,
    warnings: [SECRET],
  },
  EvaluationRuleCreated: { filter: { query: { $expr: { $literal: SECRET } } } },
  EvaluationRuleChanged: { filter: { query: { $expr: { $literal: SECRET } } } },
  GradientStepLogged: { metrics: { [SECRET]: 1 } },
  CheckpointSaved: { metrics: { [SECRET]: 1 } },
  TrajectoriesLogged: { content: SECRET },
  TrainingFailed: { error_message: SECRET },
  TrainingJobCreated: {
    ...{ input: SECRET, config: { a: SECRET }, training_data_url: SECRET },
    validation: SECRET,
  },
  DataFileUploaded: { filename: SECRET, blob: SECRET },
  FineTuningCreated: { given: { suffix: SECRET }, hyperparameters: { note: SECRET } },
  CollectionDescribed: { description: SECRET },
  VersionCreated: {
    ...{ metadata: { a: SECRET }, files: [{ path: SECRET, digest: SECRET, size: 1 }], description: SECRET },
    manifest: { blob: SECRET, md5: SECRET, size: 1, files: 1 },
  },
  VersionDescribed: { metadata: { a: SECRET }, description: SECRET },
  VersionLinked: { metadata: { a: SECRET } },
  ArtifactDrafted: { metadata: { a: SECRET }, description: SECRET },
  RunDescribed: {
    ...{ config: `{"a":"${SECRET}"}`, spilled: { config: { digest: SECRET, size: 1 } } },
    details: {
      ...{ notes: SECRET, tags: [SECRET], host: SECRET, commit: SECRET, program: SECRET },
      repository: SECRET,
    },
  },
  MetricsLogged: { metrics: { [SECRET]: 1 } },
  HistoryLogged: { lines: [SECRET], summary: SECRET, spilled: { lines: { digest: SECRET, size: 1 } } },
  RunOutputLogged: { lines: [SECRET], spilled: { lines: { digest: SECRET, size: 1 } } },
  RunFileStored: { path: SECRET, blob: SECRET, md5: SECRET },
  RunFileDeleted: { path: SECRET },
  AutomationCreated: { payload: SECRET, description: SECRET, query: { $expr: { $literal: SECRET } } },
  AutomationChanged: { payload: SECRET, description: SECRET, query: { $expr: { $literal: SECRET } } },
  DeliveryScheduled: { variables: { metric: SECRET } },
  ErasureRequested: { query: { $expr: { $literal: SECRET } } },
}

describe('the data of an erased event', () => {
  for (const [type, codec] of codecs) {
    if (!hasContent(type)) {
      it(`is unchanged for ${type}`, () => {
        assert.equal(erasedData(type, {}), undefined)
      })
      continue
    }
    const someData = arbitraryOf(codec as Codec<unknown>) as fc.Arbitrary<JsonObject>

    it(`has nothing of the content of ${type}, and can be read and erased again`, () => {
      fc.assert(
        fc.property(someData, (data) => {
          const erased = erasedData(type, { ...data, ...CONTENT[type], figures_erased: false })!

          assert.ok(!JSON.stringify(erased).includes(SECRET))
          assert.equal(erased['erased'], true)
          assert.equal(codec.decode(erased)._tag, 'Right')
          assert.deepEqual(erasedData(type, erased), erased)
          assert.deepEqual(blobsNamedBy({ type, data: erased }), [])
        }),
        { numRuns: 25 },
      )
    })
  }

  it('has a rule for each type with content', () => {
    const ofCalls = ['CallStarted', 'CallEnded', 'ConflictingCallStartReported', 'ConflictingCallEndReported']
    assert.deepEqual(
      [...Object.keys(CONTENT), ...ofCalls, 'FeedbackGiven', ...WITHOUT_CONTENT].sort(),
      [...codecs.keys()].sort(),
    )
  })
})
