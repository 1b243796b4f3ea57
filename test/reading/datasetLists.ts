export type DatasetRow = { did: number; name: string };

const jsonRow = ({ did, name }: DatasetRow): string =>
  `  {"did":${did},\n   "name":"${name}",\n   "version":1,\n   "status":"active",\n   "format":"ARFF",\n   "md5_checksum":"",\n      "file_id": ${did},\n      "quality":[\n        {"name":"NumberOfClasses",\n     "value":"3.0"\n    }\n            ]\n      }\n  `;
const xmlRow = ({ did, name }: DatasetRow): string =>
  `    <oml:dataset>\n    <oml:did>${did}</oml:did>\n    <oml:name>${name}</oml:name>\n    <oml:version>1</oml:version>\n    <oml:uploader>1</oml:uploader>\n    <oml:status>active</oml:status>\n    <oml:format>ARFF</oml:format>\n        <oml:file_id>${did}</oml:file_id> \n            <oml:quality name="NumberOfClasses">3.0</oml:quality>\n      </oml:dataset>\n`;

/** Legacy's two templates of the dataset list, neither of which escapes a name. */
export const jsonList = (rows: readonly DatasetRow[]): string =>
  `{"data":{"dataset":[\n  ${rows.map(jsonRow).join(",")}  ]}\n}\n`;
export const xmlList = (rows: readonly DatasetRow[]): string =>
  `<oml:data xmlns:oml="http://openml.org/openml">\n${rows.map(xmlRow).join("")}  </oml:data>\n`;

/** The same row as the new interface has it. */
export const ours = ({ did, name }: DatasetRow) => ({
  did,
  name,
  version: 1,
  format: "arff",
  file_id: did,
  status: "active",
  md5_checksum: null,
  quality: [{ name: "NumberOfClasses", value: 3 }],
});

/** So many rows. */
export const datasetRows = (count: number, name = "Données ß"): DatasetRow[] =>
  Array.from({ length: count }, (_, i) => ({ did: i + 1, name }));
