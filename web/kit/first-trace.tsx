import { SegmentedControl } from '@mantine/core'
import { useEffect, useState } from 'react'
import { address } from './boot.js'
import { CopyButton } from './copy.js'
import { usePosition } from './live.js'
import { usePlace } from './place.js'

const SNIPPETS = {
  Python: (projectId: string, key: string) => `# pip install weave
import os
os.environ["WF_TRACE_SERVER_URL"] = "${address}"
os.environ["WANDB_BASE_URL"] = "${address}"
os.environ["WANDB_API_KEY"] = "${key}"

import weave
weave.init("${projectId}")

@weave.op
def answer(question: str) -> str:
    return "42"

answer("What is six times seven?")
`,
  'Node.js': (projectId: string, key: string) => `// npm install weave
process.env.WF_TRACE_SERVER_URL = "${address}"
process.env.WANDB_BASE_URL = "${address}"
process.env.WANDB_API_KEY = "${key}"

const weave = await import("weave")
const client = await weave.init("${projectId}")
const answer = weave.op(async function answer(question) { return "42" })
await answer("What is six times seven?")
await client.waitForBatchProcessing()
`,
  'OpenAI client': (
    projectId: string,
    key: string,
  ) => `# pip install openai; an upstream must be set up for the model
from openai import OpenAI

client = OpenAI(base_url="${address}/v1", api_key="${key}", default_headers={"OpenAI-Project": "${projectId}"})
print(client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": "Hello"}]))
`,
  curl: (
    projectId: string,
    key: string,
  ) => `curl ${address}/call/start -u x:${key} -H 'content-type: application/json' -d '{
  "start": {"project_id": "${projectId}", "op_name": "answer", "started_at": "${new Date().toISOString()}",
    "inputs": {"question": "What is six times seven?"}, "attributes": {}}}'
`,
} as const

type Program = keyof typeof SNIPPETS

/** Programs that record a first call, with the address and the project in place. */
export const Snippets = ({
  projectId,
  apiKey = 'YOUR_API_KEY',
}: {
  readonly projectId: string
  readonly apiKey?: string
}) => {
  const [program, setProgram] = useState<Program>('Python')
  const text = SNIPPETS[program](projectId, apiKey)
  return (
    <>
      <SegmentedControl
        data={Object.keys(SNIPPETS)}
        value={program}
        onChange={(value) => setProgram(value as Program)}
        aria-label="Program"
      />
      <pre className="code" tabIndex={0}>
        {text}
      </pre>
      <div>
        <CopyButton text={text}>Copy</CopyButton>
      </div>
    </>
  )
}

/** Shown in place of an empty list; turns into the list when the first call arrives. */
export const FirstTrace = ({ isLive }: { readonly isLive: () => void }) => {
  const { projectId } = usePlace()
  const position = usePosition(projectId, true)
  useEffect(() => {
    if (position !== undefined) isLive()
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only a new position can bring the first call
  }, [position])
  return (
    <div className="page" style={{ maxWidth: 800 }}>
      <h1>No calls in {projectId} yet</h1>
      <p>
        A trace shows the calls of one run of your program: its inputs, outputs, tokens and costs. Run one of
        these, with a key of yours, and it appears here.
      </p>
      <Snippets projectId={projectId} />
      <div className="secondary" role="status">
        Waiting for the first call …
      </div>
    </div>
  )
}
