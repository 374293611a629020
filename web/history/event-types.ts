type Kinds = readonly (readonly [thing: string, types: string])[]

/** The types of the events of a project, by the things that have them. */
const OF_PROJECT: Kinds = [
  [
    'call',
    'CallStarted CallEnded CallRenamed CallDeleted ConflictingCallStartReported ConflictingCallEndReported',
  ],
  ['intake', 'ElementRefused'],
  ['erasure', 'ErasureRequested CallsSelectedForErasure CallsErased ErasureFinished'],
  [
    'project',
    'UsageReportingChosen ProjectCreated ProjectDescribed RecordingChosen CachingChosen EndUserAttributeChosen RetentionChosen',
  ],
  [
    'object',
    'ObjectPublished ObjectDeleted ObjectTagsAdded ObjectTagsRemoved ObjectAliasesSet ObjectAliasesRemoved',
  ],
  ['table', 'TableRowsStored TablePublished'],
  ['file', 'FileStored'],
  ['feedback', 'FeedbackGiven FeedbackReplaced FeedbackPurged'],
  ['annotation queue', 'AnnotationQueueCreated AnnotationQueueChanged AnnotationQueueDeleted'],
  ['annotation item', 'AnnotationItemAdded AnnotationItemProgressed'],
  [
    'evaluation run',
    'EvaluationRunRequested EvaluationRunClaimed EvaluationRunCancelRequested EvaluationRunFinished',
  ],
  ['evaluation rule', 'EvaluationRuleCreated EvaluationRuleChanged EvaluationRuleDeleted'],
  ['price', 'PricePublished PriceWithdrawn PriceListImported'],
  [
    'trained model',
    'ModelCreated ModelDeleted TrainingJobQueued TrainingJobLeased TrainingLeaseExtended TrainingLeaseEnded TrainingStarted GradientStepLogged CheckpointSaved CheckpointsDeleted TrajectoriesLogged TrainingEnded TrainingFailed',
  ],
  ['training job', 'TrainingJobCreated'],
  ['fine-tuning', 'DataFileUploaded DataFileDeleted FineTuningCreated'],
  [
    'artifact',
    'CollectionCreated CollectionDescribed VersionCreated VersionRepeated VersionDescribed VersionDeleted AliasAdded AliasRemoved TagAdded TagRemoved',
  ],
  ['artifact draft', 'ArtifactDrafted ManifestNamed'],
  [
    'run',
    'RunStarted RunDescribed MetricsLogged HistoryLogged RunOutputLogged RunFileStored RunFileDeleted ArtifactUsed RunFinished RunFailed RunResumed RunSeen RunStopRequested RunDeleted',
  ],
]

/** Of what the team has, which is found by its id. */
const OF_TEAM: Kinds = [
  [
    'webhook',
    'WebhookCreated WebhookChanged WebhookEnabled WebhookDisabled WebhookFailing WebhookReleased WebhookDeleted TestSent',
  ],
  [
    'automation',
    'AutomationCreated AutomationChanged AutomationEnabled AutomationDisabled AutomationDeleted',
  ],
  [
    'delivery',
    'DeliveryScheduled AttemptStarted AttemptFinished AttemptOutcomeUnknown DeliveryCanceled DeliveryResent DeliverySuppressed',
  ],
]

export const EVENT_TYPES: Kinds = [...OF_PROJECT, ...OF_TEAM]

/** Types that a call, a run or a training job has many of. */
const FREQUENT = new Set(
  (
    'CallStarted CallEnded FileStored TableRowsStored MetricsLogged HistoryLogged RunOutputLogged RunSeen ' +
    'GradientStepLogged TrajectoriesLogged TrainingLeaseExtended'
  ).split(' '),
)

/** What people do in a project. */
export const CHANGES: readonly string[] = OF_PROJECT.flatMap(([, types]) => types.split(' ')).filter(
  (type) => !FREQUENT.has(type),
)

/** `call started` for `CallStarted`. */
export const wordsOf = (type: string): string => type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()

/** The call, run, webhook … of a stream, as `object` of `/api/events` names it; '' for the project itself. */
export const objectIn = (stream: string): string =>
  /^(?:secret|registered)-[^/]+\/(.+)$/.exec(stream)?.[1] ??
  /^[a-z_]+-[^/]+\/[^/]+\/(.+)$/.exec(stream)?.[1] ??
  /^[a-z_]+-([^/]+)$/.exec(stream)?.[1] ??
  ''
