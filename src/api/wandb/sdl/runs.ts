/** Runs, their history and their files. */
export const runs = `
type Run {
  id: ID! name: String! displayName: String description: String notes: String sweepName: String state: String
  config: JSONString group: String jobType: String commit: String readOnly: Boolean tags: [String!]
  createdAt: DateTime heartbeatAt: DateTime summaryMetrics: JSONString systemMetrics: JSONString
  historyLineCount: Int
  logLineCount: Int
  eventsLineCount: Int
  "A JSON list with the last line of the history."
  historyTail: JSONString
  eventsTail: JSONString
  "Of the client's own configuration, the values under these keys."
  wandbConfig(keys: [String!]): JSONString
  user: User projectId: Int project: Project stopped: Boolean
  "The keys of the history, with the types of their values, and the last step."
  historyKeys: JSON
  "Lines from minStep to before maxStep, at most samples; without steps, lines evenly spread over the run."
  history(minStep: Int64, maxStep: Int64, samples: Int): [String!]
  "Lines of system metrics, evenly spread."
  events(samples: Int): [String!]
  "By each specification {keys, minStep, maxStep, samples}: rows that have all of the keys. maxStep is included."
  sampledHistory(specs: [JSONString!]!): [JSON]
  "Empty: clients then ask for history."
  parquetHistory(liveKeys: [String!]!): ParquetHistory
  fileCount: Int
  files(names: [String], first: Int, after: String, pattern: String): FileConnection
  outputArtifacts(first: Int, after: String): ArtifactConnection
  inputArtifacts(first: Int, after: String): InputArtifactConnection
  logLines(first: Int, after: String, last: Int, useImprovedPagination: Boolean): LogLineConnection
}
type LogLineConnection { edges: [LogLineEdge!]! pageInfo: PageInfo! }
type LogLineEdge { node: LogLine }
type LogLine { number: Int timestamp: DateTime level: String label: String line: String }
type ParquetHistory { parquetUrls: [String!]! liveData: [JSON] }
type RunConnection { edges: [RunEdge!]! pageInfo: PageInfo! }
type RunEdge { node: Run cursor: String }

type FileConnection { totalCount: Int edges: [FileEdge!]! pageInfo: PageInfo! }
type FileEdge { node: File cursor: String }
"A file of a run or an artifact. The links open without a key, for a day."
type File {
  id: ID! name: String! displayName: String url(upload: Boolean): String directUrl: String! uploadUrl: String
  uploadHeaders: [String!]! sizeBytes: Int64 storagePath: String mimetype: String updatedAt: DateTime digest: String
  md5: String uploadMultipartUrls: UploadMultipartUrls artifact: Artifact
}
type UploadMultipartUrls { uploadID: ID! uploadUrlParts: [UploadUrlPart!]! }
type UploadUrlPart { partNumber: Int64! uploadUrl: String! }

input UpsertBucketInput {
  "The id of the run, instead of modelName, entityName and name."
  id: String
  name: String groupName: String modelName: String entityName: String description: String displayName: String
  notes: String config: JSONString commit: String host: String debug: Boolean jobProgram: String jobRepo: String
  jobType: String state: String sweep: String tags: [String!] summaryMetrics: JSONString
}
type UpsertBucketPayload { bucket: Run inserted: Boolean serverSettings: ServerSettings }
"Older clients ask whether there is this type, and synchronise no folder without it."
type ServerSettings { serverMessages: [ServerMessage!]! }
type ServerMessage {
  utfText: String plainText: String htmlText: String messageType: String messageLevel: Int
}
input CreateRunFilesInput { entityName: String! projectName: String! runName: String! files: [String!]! }
input DeleteFilesInput { files: [ID!]! projectId: Int clientMutationId: String }
input StopRunInput { id: ID! clientMutationId: String }
input DeleteRunInput { id: ID! deleteArtifacts: Boolean clientMutationId: String }
type DeleteRunPayload { clientMutationId: String }
type CreateRunFilesPayload {
  runID: ID!
  "Each 'Name:value'."
  uploadHeaders: [String!]!
  files: [File!]!
}
enum AlertSeverity { INFO WARN ERROR }
input NotifyScriptableRunAlertInput {
  entityName: String! projectName: String! runName: String! title: String! text: String! severity: AlertSeverity
  waitDuration: Duration
}
`
