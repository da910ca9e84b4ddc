"""Croissant 1.1: a dataset described for machines, with its responsible-AI part.

https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html and croissant-rai-spec.html.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from onward.curate.exported import Exported
from onward.files import file_digest

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_CONFORMS = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
TABLE = "stream.parquet"
# What each column of the table holds.
_FIELDS = {
    "id": ("sc:Text", "What names the image, from the metadata of the pool on."),
    "time": ("sc:DateTime", "When the image was uploaded, in UTC."),
    "label": ("sc:Text", "What it shows, and nothing else of the classes."),
    "bucket": ("sc:Integer", "Its bucket of time, from the earliest."),
    "path": ("sc:Text", "Its file, seen from the folder of the dataset."),
    "author": ("sc:Text", "Whose it is."),
    "licence": ("sc:Text", "Under which terms it is to be had."),
    "certainty": ("sc:Float", "The share of votes for its label, or what a model says of them."),
}


def croissant(
    out: Path,
    card: Mapping[str, Any],
    samples: Sequence[Exported],
    *,
    creator: str | None = None,
    url: str | None = None,
    today: date,
) -> dict[str, Any]:
    """Describe a dataset whose other files are written."""
    licences = sorted({one.row["licence_url"] or one.licence.name for one in samples} - {""}) or [
        "see attribution.csv"
    ]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": card["name"],
        "description": (
            f"{card['images']} images with times and labels of {len(card['classes'])} classes, "
            f"in {len(card['buckets'])} buckets of time, for learning that goes on as the world "
            "changes."
        ),
        "conformsTo": _CONFORMS,
        **({"creator": {"@type": "sc:Person", "name": creator}} if creator else {}),
        "url": url or "https://example.invalid/not-published",
        "license": licences,
        "citeAs": f"@misc{{curated, title={{{card['name']}}}, year={{{today.year}}}}}",
        "datePublished": today.isoformat(),
        "version": "1.0.0",
        "keywords": ["continual learning", "images", *card["classes"]],
        "isLiveDataset": False,
        "distribution": [
            _file(out, TABLE, "application/x-parquet", "A row for each image."),
            _file(out, "attribution.csv", "text/csv", "Author and licence of each image."),
        ],
        "recordSet": [_classes(card["classes"]), _images()],
        **_responsible(card, samples),
    }


def _file(out: Path, name: str, kind: str, words: str) -> dict[str, Any]:
    path = out / name
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "description": words,
        "contentUrl": name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": kind,
        "sha256": file_digest(path),
    }


def _classes(classes: Sequence[str]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": "classes",
        "name": "classes",
        "description": "The labels that there are, in the order of their numbers.",
        "dataType": "sc:Enumeration",
        "key": {"@id": "classes/name"},
        "field": [
            {
                "@type": "cr:Field",
                "@id": "classes/name",
                "name": "name",
                "description": "The name of a class.",
                "dataType": "sc:Text",
            }
        ],
        "data": [{"classes/name": name} for name in classes],
    }


def _images() -> dict[str, Any]:
    fields = []
    for name, (kind, words) in _FIELDS.items():
        field: dict[str, Any] = {
            "@type": "cr:Field",
            "@id": f"images/{name}",
            "name": name,
            "description": words,
            "dataType": kind,
            "source": {"fileObject": {"@id": TABLE}, "extract": {"column": name}},
        }
        if name == "label":
            field["references"] = {"field": {"@id": "classes/name"}}
        fields.append(field)
    return {
        "@type": "cr:RecordSet",
        "@id": "images",
        "name": "images",
        "description": "One record for each image.",
        "key": {"@id": "images/id"},
        "field": fields,
    }


def _responsible(card: Mapping[str, Any], samples: Sequence[Exported]) -> dict[str, Any]:
    """Return what the responsible-AI vocabulary asks for, as far as the stages know it."""
    stages = {one["kind"]: one for one in card["stages"]}
    terms, error, cost = stages["accept"]["options"], card["label_error"], card["cost"]
    times = sorted(one.row["time"] for one in samples)
    warned = "one annotator" if terms["sensitive"] == "strict" else "more than two annotators"
    analysis = []
    if card["krippendorff_alpha"] is not None:
        analysis.append(f"Krippendorff's alpha {card['krippendorff_alpha']:.3f}")
    if error is not None:
        analysis.append(
            f"estimated label error {error['estimate']:.4f}, {error['level']:.0%} interval "
            f"{error['low']:.4f} to {error['high']:.4f}"
        )
    return {
        "rai:dataCollection": (
            "Candidates were retrieved from a pool of dated images, bucket by bucket, by the "
            "similarity of images and texts in a model, and then reviewed by people."
        ),
        "rai:dataCollectionType": ["Web Scraping", "Manual Human Curator"],
        "rai:dataCollectionTimeframe": [times[0].isoformat(), times[-1].isoformat()],
        "rai:dataPreprocessingProtocol": [
            f"{one['kind']}: {_plain(one['options'])}" for one in card["stages"]
        ],
        "rai:dataAnnotationProtocol": [
            "Select one or more elements in this image, or none of the above; does it contain "
            "sensitive content?",
            f"accepted by the rule {terms['rule']}, with at least {terms['votes_per_image']} votes",
        ],
        "rai:dataAnnotationAnalysis": analysis,
        "rai:annotationsPerItem": f"{cost['votes'] / max(cost['images_looked_at'], 1):.2f}",
        "rai:annotatorDemographics": [f"{cost['annotators']} annotators; nothing else was asked"],
        "rai:machineAnnotationTools": ["retrieval by a model of images and texts"],
        "rai:dataUseCases": ["Training", "Testing"],
        "rai:dataBiases": [
            "Only images that the retrieving model ranks high are candidates: what it does not "
            "know well is missing. Authors of the pool are no sample of all people."
        ],
        "rai:dataLimitations": [
            "Images show one concept clearly; those that annotators dispute were left out."
        ],
        "rai:personalSensitiveInformation": [
            f"Images that {warned} called sensitive were left out. Images may show people, and "
            "authors are named as their licences demand."
        ],
    }


def _plain(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(options.items()))
